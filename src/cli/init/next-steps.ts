import { basename } from 'node:path';
import { clouds } from '../../cloud-hosts.ts';
import type { FoundProvider } from './find-clouds.ts';

/** A file that `init` wrote. */
interface Written {
  readonly file: string;
  readonly text: string;
  readonly chosen: readonly FoundProvider[];
  /** Whether a project's key was made. */
  readonly hasKey: boolean;
}

/** What a person does next. */
export function nextSteps({ file, text, chosen, hasKey }: Written): string {
  const missing = chosen.flatMap(({ variable, isFound }) =>
    isFound || variable === undefined ? [] : [variable],
  );
  const packages = chosen.flatMap(({ credentials, variable }) =>
    credentials === undefined || variable !== undefined ? [] : [clouds[credentials].install],
  );
  const dashC = basename(file) === 'gateway.yaml' ? '' : ` -c ${file}`;
  return [
    ...(missing.length === 0 ? [] : [`set       ${missing.join(', ')}`]),
    ...(packages.length === 0
      ? []
      : [
          `install   npm install ${[...new Set(packages)].join(' ')} (with -g if the gateway was installed so)`,
        ]),
    ...(hasKey ? ['keep      the key: the file has only its hash'] : []),
    `check     gateway doctor${dashC}`,
    `start     gateway serve${dashC}`,
    ...(/^default_model:/m.test(text)
      ? []
      : ['choose    a default_model in the file: "gateway models" lists them once it runs']),
  ]
    .map((line) => `${line}\n`)
    .join('');
}
