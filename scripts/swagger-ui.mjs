#!/usr/bin/env node
// usage: node scripts/swagger-ui.mjs [VERSION]
// Brings vendor/swagger-ui, which is committed: of the npm package only what the plant store's API page needs,
// without its install script, its source maps and its other builds (12 MB).
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const target = join(import.meta.dirname, '..', 'vendor', 'swagger-ui');
const work = mkdtempSync(join(tmpdir(), 'swagger-ui-'));
const wanted = `swagger-ui-dist@${process.argv[2] ?? 'latest'}`;
const archive = execFileSync('npm', ['pack', '--silent', wanted], { cwd: work, encoding: 'utf8' }).trim();
execFileSync('tar', ['xzf', archive], { cwd: work });
const read = (name) => readFileSync(join(work, 'package', name));

const { name, version, license } = JSON.parse(read('package.json'));
mkdirSync(target, { recursive: true });
writeFileSync(join(target, 'package.json'), `${JSON.stringify({ name, version, license }, null, 2)}\n`);
writeFileSync(join(target, 'LICENSE'), read('LICENSE'));
const notices = ['swagger-ui-bundle.js.LICENSE.txt', 'NOTICE'].map((file) => String(read(file)));
writeFileSync(join(target, 'swagger-ui-NOTICE.txt'), notices.join('\n'));
for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css'])
  writeFileSync(join(target, `${file}.gz`), gzipSync(read(file), { level: 9 }));
rmSync(work, { recursive: true });
