import { Chalk } from 'chalk';

type Look = 'bold' | 'dim' | 'italic' | 'underline' | 'strikethrough' | 'red' | 'green' | 'yellow' | 'cyan';

export type Paint = (look: Look, text: string) => string;

/** Colours text for one stream, or returns it unchanged if the stream shows no colours. */
export function painter(isColoured: boolean): Paint {
  if (!isColoured) return (_look, text) => text;
  // Sets chalk's level explicitly: its own detection ignores NO_COLOR and the stream. All terminals with colours have
  // the ones used here, so no higher level is needed.
  const chalk = new Chalk({ level: 1 });
  return (look, text) => chalk[look](text);
}
