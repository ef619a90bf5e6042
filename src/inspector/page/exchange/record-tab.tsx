import type { ExchangeDetail } from '../../contract/exchange-detail.ts';
import { BodyText } from '../text/body-text.tsx';

export function RecordTab({ detail }: { readonly detail: ExchangeDetail }) {
  if (detail.record === undefined)
    return <p class="note">The record is written when the exchange has ended.</p>;
  const text = JSON.stringify(detail.record);
  return <BodyText label="The record" body={{ bytes: text.length, text, truncated: false, marks: [] }} />;
}
