/** `ctl config`: the kubeconfig file. No server is needed. */
import { realpath } from 'node:fs/promises';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { UsageError } from '../../base/usage-error.ts';
import { type Kubeconfig, loadKubeconfig, parseKubeconfig } from '../../client/kubeconfig.ts';
import { readBoundedSync } from '../../os/bounded-file.ts';
import { replaceFile } from '../../os/replace-file.ts';
import { findKubeconfig, kubeconfigFiles } from '../connection/find-kubeconfig.ts';
import type { Flags } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import { recordsAt, textAt } from '../objects/objects.ts';
import { objectFormat } from '../printers/object-format.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { Verb, VerbGroup } from '../verb.ts';

const load = (io: Io, flags: Flags) => findKubeconfig(io, flags.text('kubeconfig'));

const view: Verb = {
  about: 'print the kubeconfig, without its secrets',
  examples: [
    'ctl config view # print the kubeconfig',
    'ctl config view --minify # print what the current context uses',
  ],
  flags: {
    raw: { type: 'boolean', about: 'include secrets' },
    minify: { type: 'boolean', about: 'print only the parts that the current context uses' },
    output: { type: 'string', short: 'o', hint: 'FORMAT', about: 'json, yaml, jsonpath=…' },
  },
  async run({ io, flags }) {
    const config = load(io, flags);
    const context = flags.text('context') ?? config.currentContext;
    const shown = documentOf(flags.on('minify') ? minified(config, context) : config, flags.on('raw'));
    const format = objectFormat(flags.text('output') ?? 'yaml');
    if (!format) throw new UsageError('ctl config view: -o wide is not supported; use yaml or json');
    io.out(format(shown));
  },
};

function minified(config: Kubeconfig, name: string): Kubeconfig {
  const context = config.contexts[name];
  if (!context) throw new UsageError(`kubeconfig: there is no context ${JSON.stringify(name)}`);
  const only = <T>(entries: Readonly<Record<string, T>>, key: string | undefined) =>
    Object.fromEntries(Object.entries(entries).filter(([entry]) => entry === key));
  return {
    clusters: only(config.clusters, context.cluster),
    users: only(config.users, context.user),
    contexts: only(config.contexts, name),
    currentContext: name,
  };
}

const secrets: Readonly<Record<string, string>> = {
  'certificate-authority-data': 'DATA+OMITTED',
  'client-certificate-data': 'DATA+OMITTED',
  'client-key-data': 'DATA+OMITTED',
  token: 'REDACTED',
  password: 'REDACTED',
};

function documentOf(config: Kubeconfig, raw: boolean): JsonObject {
  const plain = (entry: object) =>
    Object.fromEntries(
      Object.entries(entry).map(([key, value]) => [key, raw ? value : (secrets[key] ?? value)]),
    );
  const list = (entries: Readonly<Record<string, object>>, field: string) =>
    Object.entries(entries).map(([name, entry]) => ({ name, [field]: plain(entry) }));
  return {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    clusters: list(config.clusters, 'cluster'),
    users: list(config.users, 'user'),
    contexts: list(config.contexts, 'context'),
    'current-context': config.currentContext,
  };
}

const currentContext: Verb = {
  about: 'print the name of the current context',
  examples: ['ctl config current-context # see which cluster commands work with'],
  async run({ io, flags }) {
    const { currentContext: name } = load(io, flags);
    if (!name) throw new Error('current-context is not set');
    io.out(`${name}\n`);
  },
};

const getContexts: Verb = {
  about: 'list the contexts of the kubeconfig',
  examples: ['ctl config get-contexts # list the contexts'],
  flags: {
    output: { type: 'string', short: 'o', hint: 'name', about: 'names only' },
    'no-headers': { type: 'boolean', about: 'do not print the header line' },
  },
  async run({ io, flags, palette }) {
    const config = load(io, flags);
    const names = Object.keys(config.contexts).sort();
    if (flags.oneOf('output', ['name'] as const)) {
      io.out(names.map((name) => `${name}\n`).join(''));
      return;
    }
    const rows = names.map((name) => {
      const { cluster = '', user = '', namespace = '' } = config.contexts[name] ?? {};
      return [name === config.currentContext ? '*' : '', name, cluster, user, namespace];
    });
    const headers = flags.on('no-headers') ? [] : ['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'];
    io.out(new TableWriter(palette).format(rows, headers));
  },
};

const useContext: Verb = {
  about: 'set the current context',
  words: 'NAME',
  examples: ['ctl config use-context minik8s # work with the cluster of a context'],
  async run({ io, flags }) {
    const [name, ...more] = flags.words;
    if (name === undefined || more.length > 0) throw new UsageError('ctl config use-context: give one NAME');
    if (!Object.hasOwn(load(io, flags).contexts, name))
      throw new Error(`no context exists with the name: "${name}"`);
    await edit(
      fileToEdit(io, flags, ({ currentContext: current }) => current !== ''),
      (document) => {
        document['current-context'] = name;
      },
    );
    io.out(`Switched to context "${name}".\n`);
  },
};

const setContext: Verb = {
  about: 'set the namespace of a context',
  words: ['NAME', '--current'],
  flags: { current: { type: 'boolean', about: 'the current context' } },
  examples: ['ctl config set-context --current --namespace=shop # make a namespace the usual one'],
  async run({ io, flags }) {
    const name = flags.on('current') ? load(io, flags).currentContext : flags.words[0];
    const namespace = flags.text('namespace');
    if (!name || namespace === undefined)
      throw new UsageError('ctl config set-context: give --current or a NAME, and --namespace');
    await edit(
      fileToEdit(io, flags, ({ contexts }) => Object.hasOwn(contexts, name)),
      (document) => {
        const entry = recordsAt(document, 'contexts').find((context) => textAt(context, 'name') === name);
        if (!entry) throw new Error(`no context exists with the name: "${name}"`);
        entry.context = { ...(isRecord(entry.context) ? entry.context : {}), namespace };
      },
    );
    io.out(`Context "${name}" modified.\n`);
  },
};

/** Returns the first of the files in use for which `has` is true, or else the first file. */
function fileToEdit(io: Io, flags: Flags, has: (config: Kubeconfig) => boolean): string {
  const places = kubeconfigFiles(io, flags.text('kubeconfig'));
  const files = (places.find((candidates) => loadKubeconfig(candidates) !== undefined) ?? []).filter(
    (file) => loadKubeconfig([file]) !== undefined,
  );
  const found = files.find((file) => has(parseKubeconfig(readBoundedSync(file), file))) ?? files[0];
  if (found === undefined)
    throw new UsageError('no kubeconfig found: name one with --kubeconfig or $KUBECONFIG');
  return found;
}

/** Replaces the file atomically, readable by its owner only; everything that is not changed is kept. */
async function edit(file: string, change: (document: JsonObject) => void): Promise<void> {
  const document = parseYaml(readBoundedSync(file)).value;
  if (!isRecord(document)) throw new UsageError(`kubeconfig ${file} is not a mapping`);
  change(document);
  const format = objectFormat('yaml');
  // A symbolic link is kept: its target is replaced.
  await replaceFile(await realpath(file), format?.(document) ?? '', { mode: 0o600 });
}

export const config: VerbGroup = {
  about: 'show and change the kubeconfig file',
  group: 'Other Commands',
  examples: [
    'ctl config get-contexts # list the contexts',
    'ctl config set-context --current --namespace=shop # make a namespace the usual one',
  ],
  verbs: {
    view,
    'current-context': currentContext,
    'get-contexts': getContexts,
    'use-context': useContext,
    'set-context': setContext,
  },
};
