import * as z from 'zod';
import { type Dialect, fieldOf } from '../../dialects/dialect.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { compileGlob } from '../glob.ts';
import type { Attachments } from '../traverse/attachments.ts';
import type { OfferedTool } from '../traverse/offered-tools.ts';
import { asksToReason } from '../traverse/settings.ts';
import { about } from './about.ts';
import { clientNames } from './client-names.ts';
import { defineMatcher } from './matcher.ts';

const anyName = /^\*+$/;
/** A name that hosts accept: any other is not repeated in a message. */
const printableName = /^[\w.:/-]{1,128}$/;

/**
 * Tools that a request offers or forces, by globs over their names and built-in types; each as it is
 * written and in its folded view. Tools whose names can't be read could be any, so they match where one
 * match is enough, and only `*` covers them where all must.
 */
export const tools = defineMatcher({
  schema: z
    .array(z.string().min(1))
    .min(1)
    .register(...about('Names and patterns of the tools that the request offers, forces or allows.')),
  compile(patterns, { fold, quantifier }) {
    const exact = patterns.map(compileGlob);
    const folded = patterns.map((pattern) => compileGlob(fold.text(pattern)));
    const matchesSpelling = (name: string) =>
      exact.some((glob) => glob(name)) || folded.some((glob) => glob(fold.text(name)));
    // Some hosts trim names.
    const matchesName = (name: string) => matchesSpelling(name) || matchesSpelling(name.trim());
    const matches = ({ name, qualified }: OfferedTool) => matchesName(name) || qualified.some(matchesName);
    const coversAll = patterns.some((pattern) => anyName.test(pattern));
    return {
      test({ tools: { named, unnamed }, subject }) {
        if (quantifier === 'any' && named.length === 0 && unnamed.length === 0) return undefined;
        const found = named.filter(matches);
        if (quantifier === 'all' && (found.length < named.length || (unnamed.length > 0 && !coversAll))) {
          return undefined;
        }
        const entries = [...found.map(({ entry }) => entry), ...unnamed];
        const [first] = entries;
        if (quantifier === 'any' && first === undefined) return undefined;
        const at = first === undefined ? '' : subject.document.pointer(first);
        const tool = found[0]?.name ?? '';
        const match = { at, matcher: 'tools', count: entries.length };
        return [printableName.test(tool) ? { ...match, tool } : match];
      },
    };
  },
});

/** The longest answer asked for, in tokens: the largest of all caps, however they are spelled. */
export const maxOutputTokens = defineMatcher({
  schema: z
    .strictObject({
      over: z
        .int()
        .nonnegative()
        .register(...about('A larger cap than this.')),
      absent: z
        .enum(['allow', 'block'])
        .default('allow')
        .register(...about('Whether a request without a cap matches: block means that it does.')),
    })
    .register(...about('The largest cap on output tokens in the request.')),
  compile: ({ over, absent }) => ({
    test({ caps, subject }) {
      const tooLarge = caps.filter(({ tokens }) => tokens > over);
      const [first] = tooLarge;
      if (first !== undefined) {
        const at = subject.document.pointer(first.entry);
        return [{ at, matcher: 'max_output_tokens', count: tooLarge.length }];
      }
      const isAbsent = !caps.some(({ isOwn }) => isOwn);
      return isAbsent && absent === 'block'
        ? [{ at: '', matcher: 'max_output_tokens', count: 1 }]
        : undefined;
    },
  }),
});

/** The number of turns of the conversation. */
export const messages = defineMatcher({
  schema: z
    .strictObject({
      over: z
        .int()
        .nonnegative()
        .register(...about('More turns than this.')),
    })
    .register(...about('Length of the conversation.')),
  compile: ({ over }) => ({
    test({ subject: { document, dialect } }) {
      const turns = countTurns(document, dialect);
      return turns.count > over ? [{ at: turns.at, matcher: 'messages', count: turns.count }] : undefined;
    },
  }),
});

function countTurns(document: JsonDocument, dialect: Dialect): { count: number; at: string } {
  const entry = fieldOf(document, dialect, 'turns');
  if (entry === undefined) return { count: 0, at: '' };
  const at = document.pointer(entry);
  // A plain text instead of a list of turns is one turn.
  if (document.kind(entry) !== kinds.array) return { count: 1, at };
  let count = 0;
  for (let turn = entry + 1; turn < document.next(entry); turn = document.next(turn)) count += 1;
  return { count, at };
}

const modelCharacters = /^[A-Za-z0-9._:/@+#()[\] *?-]+$/;

/**
 * The model, by globs over the requested name and the names at every provider that may be tried. Some hosts ignore case:
 * a condition that refuses matches in any, an exception only as written.
 */
export const model = defineMatcher({
  schema: z
    .array(z.string().min(1))
    .min(1)
    .register(
      ...about('Names and patterns of the model, as asked for and at every provider that may be tried.'),
    ),
  compile(patterns, { quantifier, problem }) {
    patterns.forEach((pattern, index) => {
      if (modelCharacters.test(pattern)) return;
      problem(
        [index],
        `no model can be called ${JSON.stringify(pattern)}: names consist of A-Z a-z 0-9 . _ : / @ + - # ( ) [ ] and blanks`,
        'warning',
      );
    });
    const inCase = (name: string) => (quantifier === 'any' ? name.toLowerCase() : name);
    const globs = patterns.map((pattern) => compileGlob(inCase(pattern)));
    const matches = (name: string) => globs.some((glob) => glob(inCase(name)));
    return {
      test({ models }) {
        const holds = quantifier === 'any' ? models.some(matches) : models.every(matches);
        return holds ? [{ at: '/model', matcher: 'model', count: 1 }] : undefined;
      },
    };
  },
});

/** Whether the request asks for a stream. */
export const stream = defineMatcher({
  schema: z.boolean().register(...about('Whether the request asks for a stream.')),
  compile: (wanted) => ({
    test: ({ subject }) =>
      subject.stream === wanted ? [{ at: wanted ? '/stream' : '', matcher: 'stream', count: 1 }] : undefined,
  }),
});

/** A name of whoever asks, by globs. */
function nameOfCaller(of: 'project' | 'key', description: string) {
  return defineMatcher({
    schema: z
      .array(z.string().min(1))
      .min(1)
      .register(...about(description)),
    compile(patterns) {
      const globs = patterns.map(compileGlob);
      return {
        test: ({ subject }) =>
          globs.some((glob) => glob(subject[of])) ? [{ at: '', matcher: of, count: 1 }] : undefined,
      };
    },
  });
}

/** The project that the key belongs to. */
export const project = nameOfCaller('project', 'Names and patterns of the project.');

/** The id of the key. */
export const key = nameOfCaller('key', 'Ids and patterns of the key.');

const names = Object.keys(dialects) as [DialectName, ...DialectName[]];

/** The endpoint, which is the dialect the client speaks. */
export const endpoint = defineMatcher({
  schema: z
    .array(z.enum(names))
    .min(1)
    .register(...about('The request speaks one of these dialects.')),
  compile: (endpoints) => ({
    test: ({ subject }) =>
      endpoints.includes(subject.endpoint) ? [{ at: '', matcher: 'endpoint', count: 1 }] : undefined,
  }),
});

/** The gateway's estimate of the input, in tokens, which is what limits reserve. */
export const inputTokens = defineMatcher({
  schema: z
    .strictObject({
      over: z
        .int()
        .nonnegative()
        .register(...about('More tokens than this.')),
    })
    .register(
      ...about("Size of the input in tokens, by the gateway's own estimate, which is rather too high."),
    ),
  compile: ({ over }) => ({
    test({ inputTokens: tokens, peakTokens }) {
      const match = { at: '', matcher: 'input_tokens', count: 1 };
      if (tokens > over) return [match];
      return peakTokens > over ? [{ ...match, isHeld: true }] : undefined;
    },
  }),
});

/** Whether a request has a part of some kind. */
function attached(kind: keyof Attachments, matcher: 'images' | 'documents', description: string) {
  return defineMatcher({
    schema: z.boolean().register(...about(description)),
    compile: (wanted) => ({
      test({ attachments, subject: { document } }) {
        const entry = attachments[kind];
        if ((entry !== undefined) !== wanted) return undefined;
        return [{ at: entry === undefined ? '' : document.pointer(entry), matcher, count: 1 }];
      },
    }),
  });
}

/** Whether the request has an image, in whatever message. */
export const images = attached('image', 'images', 'Whether the request has an image.');

/** The same of documents and other files that are no image, sound or film. */
export const documents = attached(
  'document',
  'documents',
  'Whether the request has a document, such as a PDF.',
);

/** Whether the request itself asks the model to think; what a model does unasked doesn't count. */
export const thinking = defineMatcher({
  schema: z.boolean().register(...about('Whether the request asks the model to think.')),
  compile: (wanted) => ({
    test: ({ subject: { document, dialect } }) =>
      (asksToReason(document, dialect) === true) === wanted
        ? [{ at: '', matcher: 'thinking', count: 1 }]
        : undefined,
  }),
});

/** The agent that sent the request, as far as it says so. */
export const client = defineMatcher({
  schema: z
    .array(z.enum(clientNames))
    .min(1)
    .register(...about('Agents that send the request, as they say.')),
  compile: (wanted) => ({
    test: ({ subject: { sender } }) =>
      wanted.some((name) => name === sender?.agent) ? [{ at: '', matcher: 'client', count: 1 }] : undefined,
  }),
});

/** What the client says of the request, by globs; what it doesn't say matches nothing. */
function said(what: 'session' | 'request_class', matcher: 'session' | 'class', description: string) {
  return defineMatcher({
    schema: z
      .array(z.string().min(1))
      .min(1)
      .register(...about(description)),
    compile(patterns) {
      const globs = patterns.map(compileGlob);
      return {
        test({ subject: { sender } }) {
          const value = sender?.[what];
          if (value === undefined || !globs.some((glob) => glob(value))) return undefined;
          return [{ at: '', matcher, count: 1 }];
        },
      };
    },
  });
}

/** What the request is for, in the agent's own words. */
export const requestClass = said(
  'request_class',
  'class',
  'What the request is for, by names and patterns of what its client says, such as compaction.',
);

/** The conversation that the request belongs to. */
export const session = said(
  'session',
  'session',
  'Ids and patterns of the session, as its client names it; * for any.',
);

/**
 * The providers that may be tried. A condition that refuses holds if one of them is named here, an exception only if
 * all are.
 */
export const provider = defineMatcher({
  schema: z
    .array(z.string().min(1))
    .min(1)
    .register(...about('Names of the providers that the request may go to.')),
  compile: (names, { quantifier }) => ({
    test({ subject: { providers = [] } }) {
      const isNamed = (name: string) => names.includes(name);
      const holds =
        quantifier === 'any' ? providers.some(isNamed) : providers.length > 0 && providers.every(isNamed);
      return holds ? [{ at: '', matcher: 'provider', count: 1 }] : undefined;
    },
  }),
});

/** The size of the body in bytes, after decompression. */
export const bytes = defineMatcher({
  schema: z
    .strictObject({
      over: z
        .int()
        .nonnegative()
        .register(...about('More bytes than this.')),
    })
    .register(...about('Size of the body, after decompression.')),
  compile: ({ over }) => ({
    test: ({ subject }) =>
      subject.document.bytes.length > over ? [{ at: '', matcher: 'bytes', count: 1 }] : undefined,
  }),
});
