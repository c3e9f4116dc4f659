/** `ctl cluster-info dump`: the objects and logs that explain a cluster, printed or written to a folder. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { type FieldTable, requiredType } from '../../apimachinery/field-types.ts';
import { goJson } from '../../apimachinery/go-json.ts';
import { goShape } from '../../apimachinery/go-shape.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { query } from '../../client/resource-path.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import { containersOf, podTimeoutOf, runningTimeoutFlag } from '../objects/pods.ts';
import { type ObjectFormat, objectFormat, printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  ...printFlags,
  output: { ...printFlags.output, usual: 'json' },
  'output-directory': {
    type: 'string',
    hint: 'FOLDER',
    about: 'write files to this folder; - or none: print everything',
  },
  namespaces: {
    type: 'string',
    hint: 'NAME,…',
    about: 'namespaces to dump',
    usual: 'kube-system, and that of the context',
  },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'dump all namespaces' },
  ...runningTimeoutFlag,
} as const satisfies FlagTable;

/** Kinds of a namespace in the order in which they are dumped, with the names of their files. */
const dumped = [
  ['events', '/api/v1', 'events', 'core.v1.Event'],
  ['replication-controllers', '/api/v1', 'replicationcontrollers', 'core.v1.ReplicationController'],
  ['services', '/api/v1', 'services', 'core.v1.Service'],
  ['daemonsets', '/apis/apps/v1', 'daemonsets', 'apps.v1.DaemonSet'],
  ['deployments', '/apis/apps/v1', 'deployments', 'apps.v1.Deployment'],
  ['replicasets', '/apis/apps/v1', 'replicasets', 'apps.v1.ReplicaSet'],
  ['pods', '/api/v1', 'pods', 'core.v1.Pod'],
] as const;

export const clusterInfoDump: Verb = {
  about: 'print the objects and logs that explain a cluster, or write them to a folder',
  flags: flagTable,
  examples: [
    'ctl cluster-info dump # print what helps to find faults of the cluster',
    'ctl cluster-info dump --output-directory=/tmp/cluster --all-namespaces # write it to files, with all namespaces',
    'ctl cluster-info dump --namespaces=default,kube-system -o yaml # print that of some namespaces as YAML',
  ],
  async run(context) {
    const { flags, io } = context;
    podTimeoutOf(flags);
    const cluster = context.cluster();
    const folder = folderOf(flags);
    const write = writerTo(context, folder);
    const format = await formatOf(context);
    const extension = { json: '.json', yaml: '.yaml' }[flags.text('output') || 'json'] ?? '.txt';
    const print = async (file: string, path: string, typeName: string) => {
      const list = await cluster.get(path);
      await write(`${file}${extension}`, [format(list, typeName)]);
      return list;
    };
    await print('nodes', '/api/v1/nodes', 'core.v1.Node');
    for (const namespace of await namespacesOf(context)) {
      let pods: JsonObject = {};
      for (const [file, root, plural, typeName] of dumped) {
        const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
        pods = await print(join(namespace, file), path, typeName);
      }
      for (const pod of recordsAt(pods, 'items'))
        await write(join(namespace, partOf(metadataOf(pod).name), 'logs.txt'), logsOf(context, pod));
    }
    if (folder !== undefined) io.out(`Cluster info dumped to ${folder}\n`);
  },
};

function folderOf(flags: Flags): string | undefined {
  const folder = flags.text('output-directory');
  return folder && folder !== '-' ? folder : undefined;
}

async function namespacesOf({ flags, cluster }: VerbContext): Promise<string[]> {
  if (flags.on('all-namespaces'))
    return recordsAt(await cluster().get('/api/v1/namespaces'), 'items').map((one) =>
      partOf(metadataOf(one).name),
    );
  const given = flags.texts('namespaces').flatMap((text) => text.split(',').filter(Boolean));
  return given.length > 0 ? given.map(partOf) : ['kube-system', cluster().namespace];
}

/** Returns the name. Throws for a name that would lead to another place than a file of the folder. */
function partOf(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !name.includes('/')) return name;
  throw new UsageError(`${JSON.stringify(name)} is not the name of an object`);
}

type ListFormat = (list: JsonObject, typeName: string) => string;

/** Returns the format of the lists; JSON has the order of Go's types. */
async function formatOf({ flags, io }: VerbContext): Promise<ListFormat> {
  const output = flags.text('output') || 'json';
  if (output === 'name') throw new Error('list types are not supported by name printing: *v1.NodeList');
  const types = await io.kubernetesFields();
  const shaped = (list: JsonObject, typeName: string) => inGoOrder(list, typeName, types, flags);
  if (output === 'json') return (list, typeName) => `${goJson(emptyAsNull(shaped(list, typeName)), 4)}\n`;
  const format: ObjectFormat | undefined = printedFormat(flags) ?? objectFormat(output);
  if (!format) throw new UsageError(`-o ${output}: cluster-info dump prints objects, not tables`);
  return (list, typeName) => {
    const made = shaped(list, typeName);
    return format(output === 'yaml' ? emptyAsNull(made) : made);
  };
}

/** Returns the list; kubectl prints one without items as null. */
const emptyAsNull = (list: JsonObject): JsonObject =>
  recordsAt(list, 'items').length === 0 ? { ...list, items: null } : list;

/** Returns the list without the kinds of its items, which a list of one kind does not need. */
const withoutKinds = (list: JsonObject): JsonObject => ({
  ...list,
  items: recordsAt(list, 'items').map(({ kind: _, apiVersion: __, ...item }) => item),
});

function inGoOrder(list: JsonObject, typeName: string, types: FieldTable, flags: Flags): JsonObject {
  const type = requiredType(types, typeName);
  const items = recordsAt(withoutKinds(list), 'items').map((item) => {
    const { managedFields, ...metadata } = recordAt(item, 'metadata');
    const kept = flags.on('show-managed-fields') ? { managedFields } : {};
    return goShape({ ...item, metadata: { ...metadata, ...kept } }, type);
  });
  const { kind, apiVersion, metadata } = list;
  return { kind, apiVersion, metadata: isRecord(metadata) ? metadata : {}, items };
}

type Write = (file: string, parts: AsyncIterable<string> | Iterable<string>) => Promise<void>;

/** Returns a function that prints the parts, or writes them to a file of the folder as they arrive. */
function writerTo({ io }: VerbContext, folder: string | undefined): Write {
  return async (file, parts) => {
    if (folder !== undefined) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true, mode: 0o755 });
      return pipeline(Readable.from(parts), createWriteStream(path));
    }
    for await (const part of parts) {
      io.out(part);
      await io.room?.();
    }
  };
}

/** Yields the logs of all containers of a pod; an error takes the place of a log. */
async function* logsOf({ io, cluster }: VerbContext, pod: JsonObject): AsyncGenerator<string> {
  const { name, namespace } = metadataOf(pod);
  for (const container of [...containersOf(pod, 'initContainers'), ...containersOf(pod)]) {
    const what = `logs for container ${textAt(container, 'name')} of pod ${namespace}/${name}`;
    yield `==== START ${what} ====\n`;
    try {
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/log${query({ container: textAt(container, 'name') })}`;
      const { body } = await cluster().open({ method: 'GET', path, headers: { accept: '*/*' } });
      const decoder = new TextDecoder();
      for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
    } catch (error) {
      if (io.signal.aborted) throw error;
      yield `Request log error: ${errorMessage(error)}\n`;
    }
    yield `==== END ${what} ====\n`;
  }
}
