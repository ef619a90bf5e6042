import type { RefObject } from 'preact';

interface Properties {
  readonly label: string;
  readonly value: string;
  onInput(value: string): void;
  readonly area?: RefObject<HTMLTextAreaElement | null>;
  /** Lines with a problem, from 1. */
  readonly problems: readonly number[];
}

/** Longer texts have no line numbers: each keystroke would lay all of them out. */
const numberedLength = 200_000;

/**
 * A text area with line numbers, in which long lines wrap: behind it lies the same text, invisible, whose lines have the
 * numbers, and which makes the area as high as its text.
 */
export function Editor({ label, value, onInput, area, problems }: Properties) {
  return (
    <div class="editor">
      <div class="sheet">
        {value.length <= numberedLength && (
          <pre class="numbers" aria-hidden="true">
            {value.split('\n').map((line, index) => (
              <span key={index} class={problems.includes(index + 1) ? 'problem' : ''}>{`${line}\n`}</span>
            ))}
          </pre>
        )}
        <textarea
          {...(area && { ref: area })}
          aria-label={label}
          value={value}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}
