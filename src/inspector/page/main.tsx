import { render } from 'preact';
import { App } from './app.tsx';
import { Live } from './live.ts';
import { Session, tokenInAddress } from './session.ts';

const session = new Session();
const live = new Live(session);
const place = document.getElementById('page');
const hasLink = tokenInAddress() !== undefined;
await session.enterByAddress();
if (place !== null) render(<App live={live} />, place);
await (hasLink ? live.enter() : live.start());
