import { useState } from 'preact/hooks';

/** Copies the text to the clipboard and says whether that worked. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [said, setSaid] = useState(label);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      // The browser refused, or the origin is not secure: the user can still select the text.
      setSaid('Select and copy by hand');
    }
    setTimeout(() => setSaid(label), 2000);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{said}</span>
    </button>
  );
}
