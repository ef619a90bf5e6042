import { render } from 'preact';
import { App } from './app.tsx';
import { Live } from './live.ts';
import { Session } from './session.ts';

const session = new Session();
const live = new Live(session);
const place = document.getElementById('page');
await session.enterByAddress();
if (place !== null) render(<App live={live} />, place);
await live.start();
// The charts' code, while the gateway is there for sure: one may be opened when it is not.
void import('./now/plot.ts').catch(() => undefined);
