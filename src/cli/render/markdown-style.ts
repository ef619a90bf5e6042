import type { Paint } from '../../paint.ts';

/** How Markdown is shown on a terminal. */
export interface MarkdownStyle {
  /** Maximum width of a line, in columns. */
  readonly width: number;
  readonly paint: Paint;
  readonly bullet: string;
  readonly rule: string;
}
