import type { Io } from '../shell/io.ts';
import { findProviders } from './find-providers.ts';

/** What `init` would make a configuration of on this machine, in words; undefined if there is nothing. */
export async function credentialsAtHand(env: Io['env']): Promise<string | undefined> {
  const found = (await findProviders(env, [])).filter((one) => one.isFound && one.isAmbiguous !== true);
  const [first] = found;
  if (first === undefined) return undefined;
  const { name, variable, takesLogin, baseUrl = '' } = first;
  const what = variable ?? (takesLogin === true ? `the ${name.replace('-', ' ')}` : `${name} at ${baseUrl}`);
  return found.length === 1 ? what : `${what} and ${found.length - 1} more`;
}
