import type { ExchangeDetail, HeaderLine } from '../../contract/exchange-detail.ts';
import { visibleLine } from '../text/visible.ts';

export function HeadersTab({ detail }: { readonly detail: ExchangeDetail }) {
  // Every request that came here has some.
  if (detail.headers.length === 0)
    return (
      <p class="note">
        Records hold no headers, and this exchange is known from its record: the gateway was restarted since.
      </p>
    );
  return (
    <>
      <h3>Request headers</h3>
      <Headers lines={detail.headers} received="As received" sent="As sent to the provider" />
      <h3>Answer headers</h3>
      <Headers lines={detail.answer_headers} received="As received" sent="As sent to the client" />
      <p class="note">Secret values are shortened to their first characters.</p>
    </>
  );
}

interface Properties {
  readonly lines: readonly HeaderLine[];
  readonly received: string;
  readonly sent: string;
}

function Headers({ lines, received, sent }: Properties) {
  if (lines.length === 0) return <p class="note">None.</p>;
  const hasReceived = lines.some((line) => line.received !== undefined);
  const hasSent = lines.some((line) => line.sent !== undefined);
  return (
    <table class="headers">
      <thead>
        <tr>
          <th scope="col">Name</th>
          {hasReceived && <th scope="col">{received}</th>}
          {hasSent && <th scope="col">{sent}</th>}
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr key={line.name} class={changeOf(line, hasReceived && hasSent)}>
            <th scope="row">
              <bdi>{visibleLine(line.name)}</bdi>
            </th>
            {hasReceived && <Value value={line.received} missing="added" />}
            {hasSent && <Value value={line.sent} missing="left out" />}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ value, missing }: { readonly value: string | undefined; readonly missing: string }) {
  return <td>{value === undefined ? <i class="note">{missing}</i> : <bdi>{visibleLine(value)}</bdi>}</td>;
}

function changeOf({ received, sent }: HeaderLine, isCompared: boolean): string {
  if (!isCompared || received === sent) return '';
  if (received === undefined) return 'added';
  return sent === undefined ? 'left-out' : 'changed';
}
