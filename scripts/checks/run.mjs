#!/usr/bin/env node
// Runs a program of this folder's packages in the root of the checkout: run.mjs biome check .
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installOwnPackages } from '../own-packages.mjs';

const [program, ...argv] = process.argv.slice(2);
if (!installOwnPackages(import.meta.dirname)) process.exit(1);
const bin = join(import.meta.dirname, 'node_modules', '.bin', program);
const { status } = spawnSync(bin, argv, { cwd: join(import.meta.dirname, '..', '..'), stdio: 'inherit' });
process.exitCode = status ?? 1;
