import { render } from 'preact';
import { App } from './app.tsx';
import { Live } from './live.ts';
import { messageOf, Session } from './session.ts';

const session = new Session();
const live = new Live(session);
const place = document.getElementById('page');
const problem = await session.enterByAddress().catch(messageOf);
if (place !== null) render(<App live={live} problem={problem} />, place);
await live.start();
