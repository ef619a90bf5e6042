import { useState } from 'preact/hooks';

/** Puts the text on the clipboard and says whether it is there. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [said, setSaid] = useState(label);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      // Refused by the browser, or an address that it doesn't trust: the text is there to be selected.
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
