import { Command } from 'commander';
import { buildAdd, buildDelete, buildGet, buildSearch, buildUpdate, buildWatch } from './plants/catalogue.ts';
import { buildLogin, buildLogout, buildWhoami } from './plants/session.ts';
import { buildServe, buildUser } from './plants/store.ts';
import { withClosingHelp, withCommonOptions } from './shell/command.ts';
import type { Io } from './shell/io.ts';

const examples = [
  'gateway plants search --tags green,leafy',
  'gateway plants login -u demo',
  'gateway plants add "Maidenhair Fern" --tags green,shade',
];

export function build(io: Io): Command {
  const plants = withClosingHelp(
    withCommonOptions(new Command('plants')).description(
      'the plant store: search it, change it, watch it, run it',
    ),
    examples,
  );
  const builders = [
    buildSearch,
    buildGet,
    buildAdd,
    buildUpdate,
    buildDelete,
    buildWatch,
    buildLogin,
    buildLogout,
    buildWhoami,
    buildServe,
    buildUser,
  ];
  for (const buildCommand of builders) plants.addCommand(buildCommand(io));
  return plants;
}
