import type { Paint } from '../shell/io.ts';

/** How a terminal shows Markdown. */
export interface MarkdownStyle {
  /** Columns; no line gets wider. */
  readonly width: number;
  readonly paint: Paint;
  readonly bullet: string;
  readonly rule: string;
}
