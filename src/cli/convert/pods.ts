/** Converts pods and pod templates. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { type LabelsOfPods, placement } from './affinity.ts';
import { containerPorts } from './container-ports.ts';
import { type AddNote, Fields } from './fields.ts';
import { asName } from './workflows.ts';

/**
 * Converts the spec of a pod. A volume may be only a path; a container may name directories of the machine,
 * or volumes, itself.
 */
export function podSpec(record: JsonObject, path: string, labelsOf: LabelsOfPods, note: AddNote): JsonObject {
  const spec = new Fields(record, path, note);
  spec.drop('resources', 'resources are those of containers');
  spec.drop('status', 'the cluster writes it');
  const probe = spec.take('livenessProbe');
  if (probe !== undefined) spec.note('livenessProbe', 'becomes the probe of each container without one');
  const volumes = spec.items('volumes').map(volumeOf);
  const containers = spec
    .items('containers')
    .map((container, index) => containerOf(container, index, probe, volumes));
  const initContainers = spec
    .items('initContainers')
    .map((container, index) => containerOf(container, index, undefined, volumes));
  const placed = placement(spec, labelsOf);
  const others = spec.others();
  spec.end();
  return {
    ...others,
    ...placed,
    ...(initContainers.length > 0 && { initContainers }),
    containers,
    ...(volumes.length > 0 && { volumes }),
  };
}

function volumeOf(volume: Fields): JsonObject {
  const [name, hostPath, claim] = [
    nameIn(volume),
    volume.take('hostPath'),
    volume.take('persistentVolumeClaim'),
  ];
  return {
    ...name,
    ...(hostPath !== undefined && { hostPath: typeof hostPath === 'string' ? { path: hostPath } : hostPath }),
    ...(claim !== undefined && { persistentVolumeClaim: claimOf(claim) }),
    ...volume.others(),
  };
}

const claimOf = (claim: unknown) =>
  isRecord(claim) && typeof claim.claimName === 'string'
    ? { ...claim, claimName: asName(claim.claimName) }
    : claim;

/** Returns the name of a container or volume, which must be a label in Kubernetes. */
function nameIn(fields: Fields): JsonObject {
  const before = fields.text('name');
  if (before === undefined) return {};
  const name = asName(before);
  if (name !== before) fields.note('name', `${before} becomes ${name}`, 'usual');
  return { name };
}

/** Converts a container; its own volumes are added to those of the pod. */
function containerOf(fields: Fields, index: number, probe: unknown, volumes: JsonObject[]): JsonObject {
  const name = nameIn(fields);
  const ports = containerPorts(fields);
  volumes.push(...fields.items('volumes').map(volumeOf));
  const mounted = fields.items('volumeMounts').map((mount) => ({ ...nameIn(mount), ...mount.others() }));
  const own = fields.items('mounts').map((mount, at) => {
    const volume = `mount-${index}-${at}`;
    volumes.push({ name: volume, hostPath: { path: mount.text('hostPath') ?? '' } });
    const readOnly = mount.take('readOnly') === true;
    return { name: volume, mountPath: mount.text('containerPath') ?? '', ...(readOnly && { readOnly }) };
  });
  const volumeMounts = [...mounted, ...own];
  const withProbe = probe !== undefined && !fields.has('livenessProbe');
  return {
    ...name,
    ...fields.others(),
    ...(withProbe && { livenessProbe: probe }),
    ...(ports.length > 0 && { ports }),
    ...(volumeMounts.length > 0 && { volumeMounts }),
  };
}

/** Converts a template; only its labels and annotations are copied to pods. */
export function podTemplate(value: unknown, path: string, labelsOf: LabelsOfPods, note: AddNote): JsonObject {
  const template = new Fields(isRecord(value) ? value : {}, path, note);
  const metadata = template.part('metadata');
  const [labels, annotations] = [metadata.take('labels'), metadata.take('annotations')];
  const label = metadata.text('label');
  metadata.drop('name', 'each pod gets a name', 'usual');
  metadata.drop('namespace', 'the pods are in the namespace of the workload', 'usual');
  template.drop('status', 'the cluster writes it', 'usual');
  const spec = template.take('spec');
  template.end();
  return {
    metadata: {
      labels: labels ?? (label === undefined ? {} : { name: label }),
      ...(annotations !== undefined && { annotations }),
    },
    spec: podSpec(isRecord(spec) ? spec : {}, `${path}spec.`, labelsOf, note),
  };
}
