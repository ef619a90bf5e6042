import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { visibleLine } from '../text/visible.ts';

/** What went wrong, announced by screen readers; nothing if nothing did. */
export function ProblemNote({ children }: { readonly children: ComponentChildren }) {
  if (children === undefined) return null;
  return (
    <p class="problem" role="alert">
      {children}
    </p>
  );
}

interface TogglesProperties<Titles> {
  readonly label: string;
  readonly titles: Titles;
  readonly value: keyof Titles;
  onChange(name: keyof Titles): void;
}

/** A group of buttons, one of them pressed. */
export function Toggles<Titles extends Readonly<Record<string, string>>>({
  label,
  titles,
  value,
  onChange,
}: TogglesProperties<Titles>) {
  return (
    <div class="toggles" role="group" aria-label={label}>
      {Object.entries(titles).map(([name, title]) => (
        <button
          type="button"
          key={name}
          class="toggle"
          aria-pressed={name === value}
          onClick={() => onChange(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

interface ChoiceProperties {
  readonly label: string;
  /** What an empty value means. */
  readonly none: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  onChange(value: string): void;
}

/** A list to choose from; a value that is not among the options is one more. */
export function Choice({ label, none, value, options, onChange }: ChoiceProperties) {
  const isListed = value === '' || options.some(([one]) => one === value);
  const all = isListed ? options : [[value, value] as const, ...options];
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{none}</option>
      {all.map(([one, title]) => (
        <option key={one} value={one}>
          {visibleLine(title).slice(0, 80)}
        </option>
      ))}
    </select>
  );
}

/** Copies the text to the clipboard and says whether that worked. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [said, setSaid] = useState(label);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      // The browser refused, or the origin is not secure: the user can still select the text.
      setSaid('Select and copy by hand');
    }
    setTimeout(() => setSaid(label), 2000);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{said}</span>
    </button>
  );
}

interface DialogProperties {
  readonly title: string;
  onClose(): void;
  readonly children: ComponentChildren;
}

/** A modal dialog: the browser keeps the focus inside and closes it on Escape. */
export function Dialog({ title, onClose, children }: DialogProperties) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Not useEffect, which waits for a frame: a key that is pressed before it would go to the page.
  useLayoutEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => element.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
