import { useState } from 'preact/hooks';
import type { AccessResponse } from '../../contract/actions.ts';
import type { Live } from '../live.ts';
import { messageOfCall } from '../session.ts';
import { useLoad } from '../use-call.ts';
import { Dialog, ProblemNote } from './controls.tsx';

/** Shown instead of everything else while there is no session. */
export function SignIn({ live }: { readonly live: Live }) {
  const { session } = live;
  const access = useLoad(live, 'access', () => session.get<AccessResponse>('access'));
  const [password, setPassword] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const enter = async (event: Event) => {
    event.preventDefault();
    try {
      await session.enter({ password });
      void live.enter();
    } catch (error) {
      setRefusal(messageOfCall(error));
    }
  };
  return (
    <main class="sign-in">
      <h1>gateway</h1>
      <p>
        This page shows what passes through this machine's gateway, so it needs to know that you may see it.
        Run
      </p>
      <pre>
        <code>gateway open</code>
      </pre>
      <p>in a terminal: it prints and opens a link that works once.</p>
      <ProblemNote>{refusal ?? session.problem}</ProblemNote>
      {access.state === 'done' && access.answer.password && (
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

export function SignOut({ live, onClose }: { readonly live: Live; onClose(): void }) {
  const [isLeaving, setLeaving] = useState(false);
  const leave = async (everywhere: boolean) => {
    setLeaving(true);
    await live.signOut({ everywhere }); // what could not be ended is shown where one signs in
    onClose();
  };
  return (
    <Dialog title="Sign out" onClose={onClose}>
      <p>The session ends at the gateway too. “gateway open” makes a link that lets you in again.</p>
      <div class="actions">
        <button type="button" disabled={isLeaving} onClick={() => void leave(false)}>
          Sign out this browser
        </button>
        <button type="button" disabled={isLeaving} onClick={() => void leave(true)}>
          Sign out everywhere
        </button>
      </div>
    </Dialog>
  );
}
