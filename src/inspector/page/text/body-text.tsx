import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Body, Mark } from '../../contract/exchange-detail.ts';
import { formatBytes, formatCount } from '../format.ts';
import { type LinePiece, toLines, toShown } from './json-lines.ts';
import { visible, visibleLine } from './visible.ts';

interface Properties {
  readonly body: Body;
  /** For screen readers: what this is the body of. */
  readonly label: string;
}

const firstLines = 400;

const markTitles = {
  match: 'matched by',
  redacted: 'replaced by',
  restored: 'restored, had been replaced by',
  dropped: 'left out by',
} as const;

/** A body as text: JSON in indented lines, rule matches highlighted, nothing interpreted. */
export function BodyText({ body, label }: Properties) {
  const [maxLines, setMost] = useState(firstLines);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [isEnd, setEnd] = useState(false);
  const { lines, hasAllLines } = useMemo(
    () => (isEnd ? lastLines(body.text, maxLines) : toLines(body.text, maxLines)),
    [body.text, maxLines, isEnd],
  );
  const region = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isEnd) region.current?.scrollTo({ top: region.current.scrollHeight });
  }, [isEnd]);
  return (
    <div class="body-text">
      {!hasAllLines && isEnd && (
        <button type="button" class="more" onClick={() => setMost(maxLines * 5)}>
          Show earlier lines
        </button>
      )}
      <div class="lines" ref={region} role="region" aria-label={label} tabIndex={0}>
        {lines.map((line) => (
          <div
            class="line"
            key={line.pieces[0]?.start}
            style={{ paddingInlineStart: `${Math.min(line.depth, 24)}rem` }}
          >
            {line.pieces.map((piece) => (
              <PieceText
                key={piece.start}
                text={body.text}
                piece={piece}
                marks={body.marks}
                isOpen={open.has(piece.start)}
                onOpen={() => setOpen(new Set([...open, piece.start]))}
              />
            ))}
          </div>
        ))}
      </div>
      {!hasAllLines && !isEnd && (
        <>
          <button type="button" class="more" onClick={() => setMost(maxLines * 5)}>
            Show more lines
          </button>
          <button type="button" class="more" onClick={() => setEnd(true)}>
            Show the end
          </button>
        </>
      )}
      {body.truncated && (
        <p class="note">
          Only the first {formatBytes(new TextEncoder().encode(body.text).length)} of{' '}
          {formatBytes(body.bytes)} are shown.
        </p>
      )}
    </div>
  );
}

/** The newest message of a long conversation is at the end of its body. */
function lastLines(text: string, maxLines: number) {
  const { lines } = toLines(text, Number.POSITIVE_INFINITY);
  return { lines: lines.slice(-maxLines), hasAllLines: lines.length <= maxLines };
}

interface PieceProperties {
  readonly text: string;
  readonly piece: LinePiece;
  readonly marks: readonly Mark[];
  /** How a part of the text is written. */
  readonly show?: (text: string) => string;
  readonly isOpen: boolean;
  onOpen?(): void;
}

function PieceText({ text, piece, marks, show = visible, isOpen, onOpen }: PieceProperties) {
  return (
    <bdi class={piece.kind}>
      {toShown(piece, marks, { isOpen }).map((shown) => {
        if ('hidden' in shown) {
          return (
            <button type="button" class="hidden-text" key={`hidden-${shown.hidden}`} onClick={onOpen}>
              … show all ({formatCount(shown.hidden)} more)
            </button>
          );
        }
        return (
          <MarkedText key={shown.start} text={show(text.slice(shown.start, shown.end))} mark={shown.mark} />
        );
      })}
    </bdi>
  );
}

/** A single line with its marks, each with a title that says of what it is. */
export function MarkedLine({ text, marks }: { readonly text: string; readonly marks: readonly Mark[] }) {
  const piece = { kind: 'plain', start: 0, end: text.length } as const;
  return <PieceText text={text} piece={piece} marks={marks} show={visibleLine} isOpen />;
}

function MarkedText({ text, mark }: { readonly text: string; readonly mark: Mark | undefined }) {
  if (mark === undefined) return <>{text}</>;
  const { kind, at, rule } = mark;
  const what = rule === undefined ? kind : `${markTitles[kind]} ${rule}`;
  return (
    <mark class={kind} title={at === undefined ? what : `${at} ${what}`}>
      {text}
    </mark>
  );
}
