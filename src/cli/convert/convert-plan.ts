/**
 * Converts manifests of small systems that look like Kubernetes to Kubernetes' form. Everything that is left
 * out, added or has a different meaning is reported. Pure (docs/decisions/0057-other-dialects.md lists the
 * dialects).
 */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { FieldTable } from '../../apimachinery/field-types.ts';
import type { LabelsOfPods } from './affinity.ts';
import { autoscaler } from './autoscaler.ts';
import { type AddNote, Fields } from './fields.ts';
import { fit } from './fit.ts';
import { fn, pathFields, type Read, type Source } from './functions.ts';
import { podSpec, podTemplate } from './pods.ts';
import { dns, service } from './services.ts';
import { isSlurmJob, slurmJob, slurmPathFields } from './slurm-jobs.ts';
import { persistentVolume, persistentVolumeClaim } from './volumes.ts';
import { asName, workflow } from './workflows.ts';

export interface Input {
  /** Place of the manifest, for messages. */
  readonly where: string;
  readonly object: JsonObject;
  /** Contents of the paths that `pathsOf` returns. */
  readonly sources?: ReadonlyMap<string, Source | Error>;
}

export interface Conversion {
  readonly objects: readonly JsonObject[];
  /** One line each. */
  readonly notes: readonly string[];
  /** Errors of inputs that could not be converted. */
  readonly errors: readonly Error[];
}

/** Kinds by their names in lower case. */
const kinds: Readonly<Record<string, string>> = {
  hpa: 'HorizontalPodAutoscaler',
  horizontalpodautoscaler: 'HorizontalPodAutoscaler',
  replicaset: 'ReplicaSet',
  deployment: 'Deployment',
  pod: 'Pod',
  service: 'Service',
  dns: 'Dns',
  persistentvolume: 'PersistentVolume',
  pv: 'PersistentVolume',
  persistentvolumeclaim: 'PersistentVolumeClaim',
  pvc: 'PersistentVolumeClaim',
  function: 'Function',
  activity: 'Function',
  workflow: 'Workflow',
  gpujob: 'SlurmJob',
};

const versions: Readonly<Record<string, string>> = {
  HorizontalPodAutoscaler: 'autoscaling/v2',
  ReplicaSet: 'apps/v1',
  Deployment: 'apps/v1',
  Dns: 'minik8s.io/v1',
  Function: 'minik8s.io/v1',
  Workflow: 'minik8s.io/v1',
  SlurmJob: 'minik8s.io/v1',
};

/** Returns the apiVersion in which objects of a kind are printed. */
export const versionOf = (kind: string): string => versions[kind] ?? 'v1';

/** Returns the kind in lower case. Workflows and functions of some systems have no kind. */
function wordOf({ kind, Kind, States, functionFile, command }: JsonObject): string {
  const word = kind ?? Kind;
  if (typeof word === 'string' && word !== '') return word.toLowerCase();
  if (isRecord(States)) return 'workflow';
  return functionFile === undefined && command === undefined ? '' : 'function';
}

/** Returns the kind to which an input is converted; undefined if it is not converted. */
export function kindOf({ object }: Pick<Input, 'object'>): string | undefined {
  const word = wordOf(object);
  return word === 'job' && isSlurmJob(object) ? 'SlurmJob' : kinds[word];
}

/**
 * Returns the paths in an input: those of programs, of their libraries and of files that are sent with a job.
 */
export function pathsOf(input: Input): string[] {
  const kind = kindOf(input);
  if (kind !== 'Function' && kind !== 'SlurmJob') return [];
  const { object } = input;
  const fields = isRecord(object.spec) ? { ...object, ...object.spec } : object;
  return (kind === 'Function' ? pathFields : slurmPathFields).flatMap((field) => {
    const path = fields[field];
    return typeof path === 'string' && path !== '' ? [path] : [];
  });
}

/**
 * Converts all inputs. `fields` has the fields of Kubernetes' own kinds; other fields of an object are left
 * out.
 */
export function convert(inputs: readonly Input[], fields: FieldTable): Conversion {
  const objects: JsonObject[] = [];
  const notes: string[] = [];
  const errors: Error[] = [];
  const surroundings = surroundingsOf(inputs);
  for (const input of inputs) {
    const note = (text: string) => notes.push(`${input.where}: ${text}`);
    try {
      for (const made of convertInput(input, surroundings, note)) objects.push(fit(made, fields, note));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      errors.push(new Error(`${input.where}: ${why}`, { cause: error }));
    }
  }
  // A pod that an autoscaler scales is no longer a pod of its own.
  const scaled = new Set(objects.filter(({ kind }) => kind === 'Deployment').map(nameOf));
  const isScaled = (one: JsonObject) => one.kind === 'Pod' && scaled.has(nameOf(one));
  return { objects: objects.filter((one) => !isScaled(one)), notes, errors };
}

/**
 * Converts one input alone, and keeps fields that Kubernetes does not have. Throws if it cannot be converted.
 */
export const convertAlone = (input: Input, note: AddNote): JsonObject[] =>
  convertInput(input, surroundingsOf([input]), note);

function convertInput(input: Input, around: Surroundings, note: AddNote): JsonObject[] {
  const kind = kindOf(input);
  if (kind === undefined) throw new Error(notConverted(input.object));
  return convertOne(kind, input.object, around, (path) => readFrom(input, path), note);
}

function notConverted({ kind, Labels, type, params }: JsonObject): string {
  if (kind === 'Node' || (kind === undefined && isRecord(Labels)))
    return 'a machine becomes a node with `minik8s node`, and its labels are those of --labels; `minik8s token create` prints its flags';
  if (kind === undefined && type !== undefined && params !== undefined)
    return 'an event that starts a function is not converted; see `ctl trigger create --help`, or use a CronJob for a schedule';
  if (kind === undefined || kind === '') return 'kind is missing: say what it is, such as Hpa';
  return `kind ${String(kind)} is not converted`;
}

function readFrom({ sources }: Input, path: string): Source {
  const source = sources?.get(path);
  if (source instanceof Error) throw source;
  if (!source) throw new Error(`${JSON.stringify(path)} is not the path of a file`);
  return source;
}

interface Surroundings {
  readonly pods: ReadonlyMap<string, JsonObject>;
  readonly labelsOf: LabelsOfPods;
  readonly hasVolumes: boolean;
}

function surroundingsOf(inputs: readonly Input[]): Surroundings {
  const pods = inputs.filter((input) => kindOf(input) === 'Pod').map(({ object }) => object);
  const labels = new Map(pods.map((pod) => [nameOf(pod), labelsIn(pod)] as const));
  const labelsOf = (name: string) => labels.get(name);
  const hasVolumes = inputs.some((input) => kindOf(input) === 'PersistentVolume');
  const around = { pods: new Map<string, JsonObject>(), labelsOf, hasVolumes };
  const unread: Read = (path) => {
    throw new Error(`${path}: no pod names a path`);
  };
  const converted = pods.map(
    (pod) => [nameOf(pod), convertOne('Pod', pod, around, unread, () => undefined)[0] ?? {}] as const,
  );
  return { ...around, pods: new Map(converted) };
}

function labelsIn({ metadata }: JsonObject): JsonObject {
  const { labels, label } = isRecord(metadata) ? metadata : {};
  if (isRecord(labels)) return labels;
  return typeof label === 'string' ? { name: label } : {};
}

const nameOf = (object: JsonObject) => asName(String(isRecord(object.metadata) ? object.metadata.name : ''));

function convertOne(
  kind: string,
  object: JsonObject,
  around: Surroundings,
  read: Read,
  note: AddNote,
): JsonObject[] {
  const fields = new Fields(object, '', note);
  fields.take('apiVersion', 'kind');
  fields.take('kind');
  fields.take('Kind');
  fields.drop('status', 'the cluster writes it', 'usual');
  const metadata = metadataOf(fields);
  const made = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
    apiVersion: versionOf(kind),
    kind,
    metadata: { ...metadata, ...more },
    spec,
  });
  const spec = specOf(kind, fields);
  const converter = converters[kind] ?? toService;
  const result = converter({ object, fields, spec, metadata, around, read, note, made });
  fields.end();
  return result;
}

/** The parts of an object of another system, and what is needed to convert them. */
interface Parts {
  readonly object: JsonObject;
  readonly fields: Fields;
  readonly spec: Fields;
  /** Metadata in Kubernetes' form. */
  readonly metadata: JsonObject;
  readonly around: Surroundings;
  readonly read: Read;
  readonly note: AddNote;
  /** Returns the converted object with this spec, and with more metadata. */
  made(spec: JsonObject, more?: JsonObject): JsonObject;
}

type Converter = (parts: Parts) => JsonObject[];

const toService: Converter = ({ spec, made }) => [made(service(spec))];

const toWorkload: Converter = ({ spec, around, note, made }) => [made(workload(spec, around.labelsOf, note))];

/** Converters by the kind of the result. */
const converters: Readonly<Record<string, Converter>> = {
  HorizontalPodAutoscaler({ metadata, spec, around, note, made }) {
    const { spec: own, annotations, deployment } = autoscaler(String(metadata.name), spec, around.pods);
    const scaler = made(own, Object.keys(annotations).length > 0 ? { annotations } : {});
    if (!deployment) return [scaler];
    const template = podTemplate(deployment.template, 'spec.template.', around.labelsOf, note);
    return [deploymentOf(deployment.name, metadata, template), scaler];
  },
  ReplicaSet: toWorkload,
  Deployment: toWorkload,
  PersistentVolume: ({ spec, made }) => [made(persistentVolume(spec))],
  PersistentVolumeClaim: ({ spec, around, made }) => [made(persistentVolumeClaim(spec, around.hasVolumes))],
  Dns: ({ spec, made }) => [made(dns(spec))],
  Function: ({ object, fields, spec, read, made }) => [made(fn(wordOf(object), given(fields), spec, read))],
  Workflow({ metadata, spec, made }) {
    const { namespace } = metadata;
    const { definition, input } = workflow(spec, typeof namespace === 'string' ? namespace : undefined);
    return [made({ definition }), ...(input === undefined ? [] : [runOf(metadata, input)])];
  },
  SlurmJob: ({ metadata, spec, read, made }) => [made(slurmJob(String(metadata.name), spec, read))],
  Pod({ fields, spec, around, note, made }) {
    const beside = ['nodeName', 'nodeSelector'].filter((field) => fields.has(field));
    const placed = Object.fromEntries(beside.map((field) => [field, fields.take(field)]));
    return [made(podSpec({ ...placed, ...spec.others() }, 'spec.', around.labelsOf, note))];
  },
  Service: toService,
};

/** Returns the fields of the spec, which some kinds have at the top level. */
function specOf(kind: string, fields: Fields): Fields {
  const isFlat = ['Dns', 'Function', 'Workflow', 'SlurmJob'].includes(kind);
  return isFlat && !fields.has('spec') ? fields : fields.part('spec');
}

/** Returns the run of a workflow that contains its input. */
const runOf = (metadata: JsonObject, input: unknown): JsonObject => ({
  apiVersion: 'minik8s.io/v1',
  kind: 'WorkflowRun',
  metadata,
  spec: { workflow: metadata.name, input },
});

/** Returns the name as it is written in the manifest. */
const given = (fields: Fields) => fields.part('metadata').text('name') ?? fields.text('name', 'Name') ?? '';

function metadataOf(fields: Fields): JsonObject {
  const metadata = fields.part('metadata');
  const [own, beside] = [metadata.text('name'), fields.text('name', 'Name')];
  const before = own ?? beside ?? '';
  const name = asName(before);
  if (name !== before)
    (own === undefined ? fields : metadata).note('name', `${before} becomes ${name}`, 'usual');
  const kept = Object.fromEntries(
    ['generateName', 'namespace', 'labels', 'annotations'].flatMap((field) => {
      const value = metadata.take(field);
      return value === undefined ? [] : [[field, value]];
    }),
  );
  const label = metadata.text('label');
  return { name, ...kept, ...(label !== undefined && { labels: { name: label } }) };
}

function deploymentOf(name: string, { namespace }: JsonObject, template: JsonObject): JsonObject {
  const labels = isRecord(template.metadata) ? template.metadata.labels : undefined;
  const matchLabels = isRecord(labels) && Object.keys(labels).length > 0 ? labels : { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    spec: { selector: { matchLabels }, template: { ...template, metadata: { labels: matchLabels } } },
  };
}

/**
 * Converts a workload. The selector may be the labels themselves, or missing; a missing one becomes the
 * labels of the template.
 */
function workload(spec: Fields, labelsOf: LabelsOfPods, note: AddNote): JsonObject {
  const selector = spec.take('selector');
  const isOwn =
    isRecord(selector) && (isRecord(selector.matchLabels) || Array.isArray(selector.matchExpressions));
  const template = podTemplate(spec.take('template'), 'spec.template.', labelsOf, note);
  spec.drop('update', 'Kubernetes chooses which pods go first');
  const { labels } = isRecord(template.metadata) ? template.metadata : {};
  return {
    ...spec.others(),
    selector: isOwn ? selector : { matchLabels: selector ?? labels ?? {} },
    template,
  };
}
