/**
 * Manifests of small systems that look like Kubernetes, as Kubernetes has them. What is left out, added or means something else is told.
 * Pure (docs/decisions/0057-other-dialects.md says which dialects).
 */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { autoscaler } from './autoscaler.ts';
import { Fields } from './fields.ts';
import { podSpec, podTemplate } from './pods.ts';
import { persistentVolume, persistentVolumeClaim } from './volumes.ts';

export interface Input {
  /** Where it stands, for messages. */
  readonly where: string;
  readonly object: JsonObject;
}

export interface Conversion {
  readonly objects: readonly JsonObject[];
  /** One line each. */
  readonly notes: readonly string[];
  /** Of what could not be converted. */
  readonly errors: readonly Error[];
}

/** Kinds by their names in lower letters. */
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
};

const versions: Readonly<Record<string, string>> = {
  HorizontalPodAutoscaler: 'autoscaling/v2',
  ReplicaSet: 'apps/v1',
  Deployment: 'apps/v1',
  Dns: 'minik8s.io/v1',
};

const kindOf = ({ object }: Input) => kinds[String(object.kind).toLowerCase()];

export function convert(inputs: readonly Input[]): Conversion {
  const objects: JsonObject[] = [];
  const notes: string[] = [];
  const errors: Error[] = [];
  const surroundings = {
    pods: new Map(
      inputs
        .filter((input) => kindOf(input) === 'Pod')
        .map(({ object }) => [nameOf(object), withPlainPod(object)] as const),
    ),
    hasVolumes: inputs.some((input) => kindOf(input) === 'PersistentVolume'),
  };
  for (const input of inputs) {
    const say = (note: string) => notes.push(`${input.where}: ${note}`);
    try {
      const kind = kindOf(input);
      if (kind === undefined) throw new Error(`kind ${String(input.object.kind)} is not converted`);
      objects.push(...convertOne(kind, input.object, surroundings, say));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      errors.push(new Error(`${input.where}: ${why}`, { cause: error }));
    }
  }
  // What an autoscaler scales is no pod of its own any more.
  const scaled = new Set(objects.filter(({ kind }) => kind === 'Deployment').map(nameOf));
  const isScaled = (one: JsonObject) => one.kind === 'Pod' && scaled.has(nameOf(one));
  return { objects: objects.filter((one) => !isScaled(one)), notes, errors };
}

interface Surroundings {
  readonly pods: ReadonlyMap<string, JsonObject>;
  readonly hasVolumes: boolean;
}

type Say = (note: string) => void;

const nameOf = (object: JsonObject) => asName(String(isRecord(object.metadata) ? object.metadata.name : ''));

const withPlainPod = (pod: JsonObject): JsonObject => ({
  ...pod,
  spec: podSpec(isRecord(pod.spec) ? pod.spec : {}, '', () => undefined),
});

/** As names have to be: they become names of hosts. */
const asName = (name: string) => name.toLowerCase().replaceAll('_', '-');

function convertOne(kind: string, object: JsonObject, around: Surroundings, say: Say): JsonObject[] {
  const fields = new Fields(object, '', say);
  fields.take('apiVersion', 'kind');
  fields.take('kind');
  const metadata = metadataOf(fields);
  const { name } = metadata;
  const made = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
    apiVersion: versions[kind] ?? 'v1',
    kind,
    metadata: { ...metadata, ...more },
    spec,
  });
  const result = ((): JsonObject[] => {
    // The oldest Dns has its fields beside its kind.
    const spec = kind === 'Dns' && !fields.has('spec') ? fields : fields.part('spec');
    switch (kind) {
      case 'HorizontalPodAutoscaler': {
        const { spec: own, annotations, deployment } = autoscaler(String(name), spec, around.pods);
        const scaler = made(own, Object.keys(annotations).length > 0 ? { annotations } : {});
        if (!deployment) return [scaler];
        const template = podTemplate(deployment.template, 'spec.template.', say);
        return [deploymentOf(deployment.name, metadata, template), scaler];
      }
      case 'ReplicaSet':
      case 'Deployment':
        return [made(workload(spec, say))];
      case 'PersistentVolume':
        return [made(persistentVolume(spec))];
      case 'PersistentVolumeClaim':
        return [made(persistentVolumeClaim(spec, around.hasVolumes))];
      case 'Dns':
        return [made(dns(spec))];
      case 'Pod':
        return [made(podSpec(spec.others(), 'spec.', say))];
      default:
        return [made(service(spec))];
    }
  })();
  fields.end();
  return result;
}

function metadataOf(fields: Fields): JsonObject {
  const metadata = fields.part('metadata');
  const [own, beside] = [metadata.text('name'), fields.text('name')];
  const given = own ?? beside ?? '';
  const name = asName(given);
  if (name !== given) metadata.say('name', `${given} becomes ${name}`);
  const kept = Object.fromEntries(
    ['namespace', 'labels', 'annotations'].flatMap((field) => {
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

/** A selector may be the labels themselves. */
function workload(spec: Fields, say: Say): JsonObject {
  const selector = spec.take('selector');
  const isOwn =
    isRecord(selector) && (isRecord(selector.matchLabels) || Array.isArray(selector.matchExpressions));
  const template = podTemplate(spec.take('template'), 'spec.template.', say);
  return { ...spec.others(), selector: isOwn ? selector : { matchLabels: selector ?? {} }, template };
}

function dns(spec: Fields): JsonObject {
  const paths = spec.take('paths');
  return {
    host: spec.text('host', 'hostname'),
    paths: (Array.isArray(paths) ? paths : []).map((one: JsonObject) => ({
      path: one.path ?? one.urlPath ?? one.subPath ?? '/',
      serviceName: one.serviceName ?? one.svcName ?? one.service,
      servicePort: Number(one.servicePort ?? one.svcPort ?? one.port),
    })),
  };
}

function service(spec: Fields): JsonObject {
  if (spec.has('clusterIP') && spec.text('clusterIP') !== 'None')
    spec.say('clusterIP', 'left out: the cluster gives an address of its own');
  return spec.text('clusterIP') === 'None' ? { clusterIP: 'None', ...spec.others() } : spec.others();
}
