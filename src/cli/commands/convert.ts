/** `ctl convert -f`: manifests of other small systems, printed as Kubernetes has them. No server is asked. */
import { UsageError } from '../../base/usage-error.ts';
import { convert as convertAll } from '../convert/convert-plan.ts';
import { type FlagTable, fileFlags } from '../flags.ts';
import { readManifests } from '../manifests.ts';
import { objectFormat } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  output: { type: 'string', short: 'o', hint: 'yaml|json', about: 'in which format', usual: 'yaml' },
  ...fileFlags,
} as const satisfies FlagTable;

export const convert: Verb = {
  about: 'print manifests of other Mini-K8s systems as Kubernetes has them; what is left out is told',
  flags: flagTable,
  async run(context) {
    const { io, flags, report } = context;
    if (!flags.given('filename')) throw new UsageError('ctl convert: say what to convert: -f FILE');
    const format = objectFormat(flags.oneOf('output', ['yaml', 'json'] as const) ?? 'yaml');
    const inputs = (await readManifests(io, flags)).flatMap((entry) => {
      if (!('error' in entry)) return [{ where: `${entry.file}:${entry.line}`, object: entry.object }];
      report(entry.error);
      return [];
    });
    const { objects, notes, errors } = convertAll(inputs);
    for (const note of notes) io.err(`Note: ${note}\n`);
    for (const error of errors) report(error);
    io.out(objects.map((object) => format?.(object) ?? '').join('---\n'));
  },
};
