import { useState } from 'preact/hooks';
import type { Live } from '../live.ts';
import { messageOf } from '../session.ts';
import { Dialog } from './dialog.tsx';

interface Properties {
  readonly live: Live;
  onClose(): void;
}

export function SignOut({ live, onClose }: Properties) {
  const [failure, setFailure] = useState<string | undefined>();
  const leave = async (everywhere: boolean) => {
    try {
      await live.signOut({ everywhere });
      onClose();
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  return (
    <Dialog title="Sign out" onClose={onClose}>
      <p>The session ends at the gateway too. “gateway open” makes a link that lets you in again.</p>
      {failure !== undefined && (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      <div class="actions">
        <button type="button" onClick={() => void leave(false)}>
          Sign out this browser
        </button>
        <button type="button" onClick={() => void leave(true)}>
          Sign out everywhere
        </button>
      </div>
    </Dialog>
  );
}
