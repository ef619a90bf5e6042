import { useState } from 'preact/hooks';
import type { Live } from '../live.ts';
import { Dialog } from './dialog.tsx';

interface Properties {
  readonly live: Live;
  onClose(): void;
}

export function SignOut({ live, onClose }: Properties) {
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
