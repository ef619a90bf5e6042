import type { Fold } from '../fold/fold.ts';
import type { Reading } from '../fold/fold-character.ts';
import type { State } from './dfa-state.ts';
import type { FoundPatterns, View } from './found-patterns.ts';
import { LazyDfa } from './lazy-dfa.ts';
import type { Nfa } from './nfa.ts';
import { buildPatternAlphabets } from './pattern-alphabet.ts';

/** Cells of each pattern's table. */
const cellLimit = 1 << 16;
/** The offset of a state that is in no table, and of a pattern in which nothing is open. */
const nowhere = -1;
const closed = -2;
/** More contexts than there are, combinations included. */
const contextCount = 32;

/** What a character does where nothing is open. */
interface Beginning {
  readonly context: number;
  readonly patterns: readonly number[];
  readonly states: readonly State[];
  /** Where the states stand, and in which table. */
  readonly offsets: readonly number[];
  readonly epochs: readonly number[];
}

interface SeparateOptions {
  readonly nfa: Nfa;
  readonly fold?: Fold;
  /** The automaton of all patterns. */
  readonly whole: LazyDfa;
  /** Notes patterns that end on the way. */
  readonly found: FoundPatterns;
  readonly view: View;
}

/**
 * An automaton for each pattern, of which only those are advanced in which something is open. Slower than one for all
 * patterns, but the states of each are few, whatever the text, where those of all together are as many as their product.
 */
export class SeparateAutomata {
  readonly #whole: LazyDfa;
  readonly #fold: Fold | undefined;
  readonly #found: FoundPatterns;
  readonly #view: View;
  /** For each automaton, the pattern that it need not find again in a text; and whether it is found. */
  readonly #once: readonly number[];
  readonly #isDone: Uint8Array;
  readonly #owners: readonly number[];
  readonly #automata: readonly LazyDfa[];
  readonly #columns: readonly Uint16Array[];
  readonly #tables: Int32Array[];
  readonly #firstOpen: Int32Array;
  /** By context and class. */
  readonly #beginnings: (Beginning | undefined)[] = [];
  readonly #width: number;
  /** The patterns in which something is open, and where each stands. */
  readonly #open: Int32Array;
  #count = 0;
  readonly #offsets: Int32Array;
  /** The states that are in no table. */
  readonly #states: (State | undefined)[] = [];
  #context = 0;

  constructor({ nfa, fold, whole, found, view }: SeparateOptions) {
    this.#whole = whole;
    this.#fold = fold;
    this.#found = found;
    this.#view = view;
    this.#once = nfa.once;
    this.#isDone = new Uint8Array(nfa.starts.length);
    this.#owners = nfa.owners;
    this.#width = whole.alphabet.size + 2;
    const alphabets = buildPatternAlphabets(nfa, whole.alphabet);
    this.#columns = alphabets.map(({ columns }) => columns);
    this.#automata = nfa.starts.map((start, at) => {
      const alphabet = alphabets[at] as (typeof alphabets)[number];
      const part = { start, alphabet, steps: whole.steps };
      return new LazyDfa({ nfa, part, cellLimit, ...(fold && { fold }) });
    });
    this.#tables = this.#automata.map(({ table }) => table);
    this.#firstOpen = Int32Array.from(this.#automata, ({ firstOpen }) => firstOpen);
    this.#open = new Int32Array(nfa.starts.length);
    this.#offsets = new Int32Array(nfa.starts.length).fill(closed);
  }

  /** Continues from a state of the automaton of all patterns. */
  begin({ threads, context }: State): void {
    this.#close();
    this.#isDone.fill(0);
    this.#leaveFound(this.#found[this.#view]);
    this.#context = context;
    const byOwner = new Map<number, number[]>();
    for (const thread of threads) {
      const owner = this.#owners[thread] as number;
      const own = byOwner.get(owner);
      if (own === undefined) byOwner.set(owner, [thread]);
      else own.push(thread);
    }
    for (const [pattern, own] of byOwner) {
      this.#set(pattern, this.#automaton(pattern).state(Int32Array.from(own), context));
    }
  }

  /** The state of the automaton of all patterns. */
  get state(): State {
    const threads: number[] = [];
    for (let at = 0; at < this.#count; at += 1)
      threads.push(...this.#stateOf(this.#open[at] as number).threads);
    return this.#whole.state(Int32Array.from(threads).sort(), this.#context);
  }

  /** So many bytes have been read. */
  addRoom(bytes: number): void {
    for (const automaton of this.#automata) automaton.addRoom(bytes);
  }

  /** Reads a character of a class of the whole alphabet, or what some readers skip and others read as a space. */
  advance(byteClass: number): void {
    const key = this.#context * this.#width + byteClass;
    const beginning = this.#beginnings[key] ?? this.#learn(key, byteClass);
    const open = this.#open;
    const offsets = this.#offsets;
    let kept = 0;
    const count = this.#count;
    for (let at = 0; at < count; at += 1) {
      const pattern = open[at] as number;
      const offset = offsets[pattern] as number;
      const column = (this.#columns[pattern] as Uint16Array)[byteClass] as number;
      let next = offset < 0 ? nowhere : ((this.#tables[pattern] as Int32Array)[offset + column] as number);
      if (next < (this.#firstOpen[pattern] as number)) {
        next = next < 0 ? this.#step(pattern, column, next) : closed;
      }
      if (this.#isDone[pattern] === 1) next = closed;
      offsets[pattern] = next;
      if (next !== closed) {
        open[kept] = pattern;
        kept += 1;
      }
    }
    this.#count = kept;
    const { patterns, epochs } = beginning;
    for (let at = 0; at < patterns.length; at += 1) {
      const pattern = patterns[at] as number;
      if (offsets[pattern] !== closed || this.#isDone[pattern] === 1) continue;
      if ((this.#automata[pattern] as LazyDfa).epoch === epochs[at]) {
        open[this.#count] = pattern;
        this.#count += 1;
        offsets[pattern] = beginning.offsets[at] as number;
      } else this.#set(pattern, beginning.states[at] as State);
    }
    this.#context = beginning.context;
  }

  /** Reads a character that is read in several ways. */
  #advanceReadings(readings: readonly Reading[]): void {
    const before = this.#snapshot();
    let merged: Snapshot | undefined;
    for (const reading of readings) {
      this.#restore(before);
      for (const point of reading) this.advance(this.#whole.alphabet.of(point));
      const after = this.#snapshot();
      merged = merged === undefined ? after : this.#merge(merged, after);
    }
    if (merged !== undefined) this.#restore(merged);
  }

  /** Reads a character that is not folded yet. */
  advancePoint(codePoint: number): void {
    const { alphabet } = this.#whole;
    if (this.#fold === undefined) return this.advance(alphabet.of(codePoint));
    const point = this.#fold.point(codePoint);
    if (point > 0) this.advance(alphabet.of(point));
    else if (point < 0) this.#advanceReadings(this.#fold.readings[-1 - point] as readonly Reading[]);
  }

  #automaton(pattern: number): LazyDfa {
    return this.#automata[pattern] as LazyDfa;
  }

  #stateOf(pattern: number): State {
    const offset = this.#offsets[pattern] as number;
    return offset < 0 ? (this.#states[pattern] as State) : this.#automaton(pattern).stateAt(offset);
  }

  /** Opens a pattern. */
  #set(pattern: number, state: State): void {
    this.#open[this.#count] = pattern;
    this.#count += 1;
    this.#offsets[pattern] = this.#place(pattern, state);
  }

  #place(pattern: number, state: State): number {
    const automaton = this.#automaton(pattern);
    const live = automaton.live(state);
    this.#tables[pattern] = automaton.table;
    if (live.offset === nowhere) this.#states[pattern] = live;
    return live.offset;
  }

  /** Where a pattern goes by a cell that is not known, at which it ends, or with which nothing in it is open. */
  #step(pattern: number, column: number, cell: number): number {
    const automaton = this.#automaton(pattern);
    const state =
      cell < nowhere ? automaton.stateAt(-2 - cell) : automaton.nextByClass(this.#stateOf(pattern), column);
    if (state.patterns.length > 0) {
      this.#found.note(this.#view, state.patterns);
      this.#leaveFound(state.patterns);
    }
    return state.threads.length === 0 ? closed : this.#place(pattern, state);
  }

  /** A detector runs on a text in which its prefilter has matched, and on what follows it: no other match matters. */
  #leaveFound(patterns: readonly number[]): void {
    this.#once.forEach((pattern, automaton) => {
      if (patterns.includes(pattern)) this.#isDone[automaton] = 1;
    });
  }

  #learn(key: number, byteClass: number): Beginning {
    const context = this.#context;
    const patterns: number[] = [];
    const states: State[] = [];
    let after = context;
    this.#automata.forEach((automaton, pattern) => {
      const column = (this.#columns[pattern] as Uint16Array)[byteClass] as number;
      const standing = this.#offsets[pattern] === closed ? undefined : this.#stateOf(pattern);
      const state = automaton.nextByClass(automaton.idle(context), column);
      // Its table may have been started over.
      if (standing !== undefined) this.#offsets[pattern] = this.#place(pattern, standing);
      after = state.context;
      this.#tables[pattern] = automaton.table;
      if (state.threads.length === 0) return;
      patterns.push(pattern);
      states.push(state);
    });
    const offsets = states.map(({ offset }) => offset);
    // A state that is in no table has to be placed each time.
    const epochs = states.map(({ offset, epoch }) => (offset === nowhere ? -1 : epoch));
    const beginning = { context: after, patterns, states, offsets, epochs };
    if (context < contextCount) this.#beginnings[key] = beginning;
    return beginning;
  }

  #close(): void {
    for (let at = 0; at < this.#count; at += 1) this.#offsets[this.#open[at] as number] = closed;
    this.#count = 0;
  }

  #snapshot(): Snapshot {
    const states = new Map<number, State>();
    for (let at = 0; at < this.#count; at += 1) {
      const pattern = this.#open[at] as number;
      states.set(pattern, this.#stateOf(pattern));
    }
    return { context: this.#context, states };
  }

  #restore({ context, states }: Snapshot): void {
    this.#close();
    this.#context = context;
    for (const [pattern, state] of states) this.#set(pattern, state);
  }

  #merge(one: Snapshot, other: Snapshot): Snapshot {
    const states = new Map<number, State>();
    for (const pattern of new Set([...one.states.keys(), ...other.states.keys()])) {
      const automaton = this.#automaton(pattern);
      const first = one.states.get(pattern) ?? automaton.idle(one.context);
      const second = other.states.get(pattern) ?? automaton.idle(other.context);
      states.set(pattern, automaton.merge(first, second));
    }
    return { context: one.context | other.context, states };
  }
}

interface Snapshot {
  readonly context: number;
  readonly states: ReadonlyMap<number, State>;
}
