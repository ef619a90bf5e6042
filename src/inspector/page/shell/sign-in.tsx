import { useState } from 'preact/hooks';
import type { Live } from '../live.ts';
import { messageOf } from '../session.ts';
import { useCall } from '../use-call.ts';

interface Properties {
  readonly live: Live;
  onSignedIn(): void;
}

/** Shown instead of everything else while there is no session. */
export function SignIn({ live, onSignedIn }: Properties) {
  const { session } = live;
  const access = useCall(live, 'access', () => session.access());
  const [password, setPassword] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const enter = async (event: Event) => {
    event.preventDefault();
    try {
      await session.enter({ password });
      onSignedIn();
    } catch (error) {
      setRefusal(messageOf(error));
    }
  };
  const failure = refusal ?? session.problem;
  const { command, password: hasPassword } =
    access.state === 'done' ? access.answer : { command: 'gateway open', password: false };
  return (
    <main class="sign-in">
      <h1>gateway</h1>
      <p>
        This page shows what passes through this machine's gateway, so it needs to know that you may see it.
        Run
      </p>
      <pre>
        <code>{command}</code>
      </pre>
      <p>in a terminal: it prints and opens a link that works once.</p>
      {failure !== undefined && (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      {hasPassword && (
        <form onSubmit={(event) => void enter(event)}>
          <label>
            Password{' '}
            <input
              type="password"
              autocomplete="current-password"
              value={password}
              onInput={(event) => setPassword(event.currentTarget.value)}
            />
          </label>
          <button type="submit">Sign in</button>
        </form>
      )}
    </main>
  );
}
