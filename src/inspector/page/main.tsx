import { render } from 'preact';
import { App } from './app.tsx';
import { Live } from './live.ts';
import { ApiClient, tokenInAddress } from './session.ts';

const live = new Live(new ApiClient());
const place = document.getElementById('page');
const starting = tokenInAddress() === undefined ? live.start() : live.enterByAddress();
if (place !== null) render(<App live={live} />, place);
await starting;
