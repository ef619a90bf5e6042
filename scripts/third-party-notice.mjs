import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folders of the packages that the given module files are of. */
export function packageFoldersOf(moduleIds) {
  return [...new Set(moduleIds.map((id) => packageFolder.exec(id)?.[0]).filter(Boolean))];
}

/** Name, version and licence text of the packages in these folders, as their licences ask for. */
export function thirdPartyNotice(folders) {
  const notices = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence file: it can't be bundled`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return `The files beside this one hold parts of these packages.\n\n${notices.sort().join(`\n${'-'.repeat(80)}\n\n`)}`;
}

const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;
