import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';

interface Properties {
  readonly label: string;
  readonly value: string;
  onInput(value: string): void;
  readonly area?: RefObject<HTMLTextAreaElement | null>;
  /** Lines with a problem, from 1. */
  readonly problems: readonly number[];
}

/** A text area with line numbers. */
export function Editor({ label, value, onInput, area, problems }: Properties) {
  const gutter = useRef<HTMLDivElement>(null);
  const count = value.split('\n').length;
  return (
    <div class="editor">
      <div ref={gutter} class="gutter" aria-hidden="true">
        {Array.from({ length: Math.min(count, 5000) }, (_, index) => (
          <span key={index} class={problems.includes(index + 1) ? 'problem' : ''}>
            {index + 1}
          </span>
        ))}
      </div>
      <textarea
        {...(area && { ref: area })}
        aria-label={label}
        value={value}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        wrap="off"
        onInput={(event) => onInput(event.currentTarget.value)}
        onScroll={(event) => {
          if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
