import type { Command } from 'commander';
import { listModels } from '../client/gateway.ts';
import { GatewayError } from '../errors.ts';
import { buildUpdate } from './models/update.ts';
import { type CommonOptions, commonOptions, createCommand } from './shell/command.ts';
import { deadline, type Io } from './shell/io.ts';
import { note, printValue } from './shell/print/print.ts';
import { rowsText } from './shell/print/table.ts';
import { gatewayTarget } from './shell/running-configuration.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'models',
    summary: 'list the models that the key may use, or show one; take over newer prices',
    examples: ['gateway models', 'gateway models sandbox-mini', 'gateway models update prices.json'],
  })
    .addCommand(buildUpdate(io))
    .argument('[model]', 'show this one only')
    .action(async (id: string | undefined, _options: unknown, command: Command) => {
      await models(id, commonOptions(command), io);
    });
}

async function models(id: string | undefined, options: CommonOptions, io: Io): Promise<void> {
  const signal = deadline(io.signal, options.timeout);
  const all = await listModels(await gatewayTarget(options, io), signal);
  if (all.length === 0 && options.quiet !== true)
    await note(
      'no provider lists a model that models[].match takes: write names there, or see "gateway doctor"\n',
      io,
    );
  const chosen = id === undefined ? all : all.filter((model) => model.id === id);
  if (id !== undefined && chosen.length === 0) {
    throw new GatewayError(
      'model.unknown',
      `there is no model ${id} for this key; "gateway models" lists them`,
    );
  }
  const rows = chosen.map((model) => [
    String(model.id),
    String(model.provider),
    String(model.status),
    Array.isArray(model.endpoints) ? model.endpoints.join(' ') : '',
  ]);
  const text = rowsText(['MODEL', 'PROVIDER', 'STATUS', 'ENDPOINTS'], rows, options, io);
  await printValue(id === undefined ? chosen : chosen[0], text, options, io);
}
