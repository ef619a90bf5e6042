import type { CallStart } from '../conversation.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { callItem } from './build-answer.ts';
import { type Emit, members, type OutputList } from './output-list.ts';

interface OpenCall {
  readonly call: CallStart;
  readonly id: string;
  readonly outputIndex: number;
  readonly deltaType: string;
  /** The start of each delta's members, up to the piece of input. */
  readonly deltaHead: string;
  input: string;
}

/** Writes the items of calls, which stay open beside each other until their input is known to be complete. */
export function createCallWriter(context: TranslationContext, output: OutputList, emit: Emit) {
  const calls = new Map<number, OpenCall>();

  function close({ call, id, outputIndex, input }: OpenCall, status: string): void {
    calls.delete(call.index);
    const place = { item_id: id, output_index: outputIndex };
    const whole = input || emptyInput(call);
    if (call.kind === 'custom') {
      emit('response.custom_tool_call_input.done', members({ ...place, input: whole }));
    } else {
      emit('response.function_call_arguments.done', members({ ...place, name: call.name, arguments: whole }));
    }
    output.done(outputIndex, callItem(id, status, { ...call, input: whole }));
  }

  return {
    start(start: CallStart): void {
      const call = start.id === '' ? { ...start, id: context.newId('call_') } : start;
      const isCustom = call.kind === 'custom';
      const id = context.newId(isCustom ? 'ctc_' : 'fc_');
      const outputIndex = output.add(callItem(id, 'in_progress', { ...call, input: '' }));
      const deltaType = isCustom
        ? 'response.custom_tool_call_input.delta'
        : 'response.function_call_arguments.delta';
      const deltaHead = `${members({ item_id: id, output_index: outputIndex })},"delta":`;
      calls.set(call.index, { call, id, outputIndex, deltaType, deltaHead, input: '' });
    },
    input(index: number, piece: string): void {
      const open = calls.get(index);
      if (open === undefined || piece === '') return;
      open.input += piece;
      emit(open.deltaType, open.deltaHead + JSON.stringify(piece));
    },
    end(index: number): void {
      const open = calls.get(index);
      if (open !== undefined) close(open, 'completed');
    },
    /** Closes the calls before an output index; all without one. */
    closeBefore(status: string, limit = Number.POSITIVE_INFINITY): void {
      for (const open of [...calls.values()]) if (open.outputIndex < limit) close(open, status);
    },
  };
}

function emptyInput(call: CallStart): string {
  return call.kind === 'custom' ? '' : '{}';
}
