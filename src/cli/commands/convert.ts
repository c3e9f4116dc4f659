/** `ctl convert -f`: prints manifests of other Mini-K8s systems in Kubernetes' form. No server is needed. */
import { dirname, resolve } from 'node:path';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { readBounded } from '../../os/bounded-file.ts';
import {
  type Conversion,
  convert as convertAll,
  type Input,
  kindOf,
  pathsOf,
} from '../convert/convert-plan.ts';
import { workflowOfLines } from '../convert/workflow-lines.ts';
import { type FlagTable, fileFlags, requireManifests } from '../flags/flags.ts';
import { readManifests } from '../manifests/manifests.ts';
import { readSource } from '../manifests/source-files.ts';
import { objectFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  output: { type: 'string', short: 'o', hint: 'yaml|json', about: 'output format', usual: 'yaml' },
  'workflow-lines': {
    type: 'string',
    hint: 'NAME',
    about: 'the file has lines such as `IF EQUALS 1 THEN f ELSE g`, which become the workflow NAME',
  },
  ...fileFlags,
} as const satisfies FlagTable;

export const convert: Verb = {
  about: 'convert manifests of other Mini-K8s systems to Kubernetes; omitted fields are reported',
  group: 'Advanced Commands',
  words: '-f FILE',
  flags: flagTable,
  examples: [
    'ctl convert -f old.yaml # print the manifest in the form of Kubernetes',
    'ctl convert -f old.yaml | minik8s ctl apply -f - # apply it',
  ],
  async run(context) {
    const { io, flags, report } = context;
    requireManifests(flags);
    const format = objectFormat(flags.oneOf('output', ['yaml', 'json'] as const) ?? 'yaml');
    const lines = flags.text('workflow-lines');
    const { objects, notes, errors } =
      lines === undefined
        ? convertAll(await inputsOf(context), await io.kubernetesFields())
        : await ofLines(context, lines);
    for (const note of notes) io.err(`Note: ${note}\n`);
    for (const error of errors) report(error);
    io.out(objects.map((object) => format?.(object) ?? '').join('---\n'));
  },
};

/**
 * Reads manifests together with the programs of functions; their paths are relative to the manifest's file.
 */
async function inputsOf({ io, flags, report }: VerbContext): Promise<Input[]> {
  const inputs: Input[] = [];
  for (const entry of await readManifests(io, flags, { kindless: true })) {
    if ('error' in entry) {
      report(entry.error);
      continue;
    }
    const input = { where: `${entry.file}:${entry.line}`, object: entry.object };
    const sources = new Map<string, Awaited<ReturnType<typeof readSource>> | Error>();
    const owner = kindOf(input) === 'SlurmJob' ? 'job' : 'function';
    const folder = entry.file === 'STDIN' || entry.file.includes('://') ? '.' : dirname(entry.file);
    for (const path of pathsOf(input)) sources.set(path, await sourceAt(resolve(folder, path), path, owner));
    inputs.push({ ...input, sources });
  }
  return inputs;
}

const sourceAt = (path: string, asGiven: string, owner: string) =>
  readSource(path, asGiven, { single: true, owner }).catch((error: Error) => error);

async function ofLines({ io, flags }: VerbContext, name: string): Promise<Conversion> {
  const files = flags.texts('filename');
  if (files.length !== 1) throw new UsageError('ctl convert: --workflow-lines takes one file: -f FILE');
  const [file = ''] = files;
  const notes: string[] = [];
  try {
    const text =
      file === '-' ? await io.readStdin() : (await readBounded(file, { signal: io.signal })).toString('utf8');
    const definition = workflowOfLines(text, (note) => notes.push(`${file}: ${note}`));
    const metadata = { name };
    const object = { apiVersion: 'minik8s.io/v1', kind: 'Workflow', metadata, spec: { definition } };
    return { objects: [object], notes, errors: [] };
  } catch (error) {
    return { objects: [], notes, errors: [new Error(`${file}: ${errorMessage(error)}`, { cause: error })] };
  }
}
