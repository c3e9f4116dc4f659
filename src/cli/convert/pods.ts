/** Pods, and templates of pods. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { Fields } from './fields.ts';

type Say = (note: string) => void;

/** A path alone is a volume; a container may name the machine's directory itself. */
export function podSpec(record: JsonObject, path: string, say: Say): JsonObject {
  const spec = new Fields(record, path, say);
  spec.drop('resources', 'resources are those of containers');
  const volumes = listOf(spec.take('volumes')).map((volume) =>
    typeof volume.hostPath === 'string' ? { ...volume, hostPath: { path: volume.hostPath } } : volume,
  );
  const containers = listOf(spec.take('containers')).map((container, index) => {
    const { mounts, ...rest } = container;
    const own = listOf(mounts).map((mount, at) => {
      const name = `mount-${index}-${at}`;
      const fields = new Fields(mount, `${path}containers[${index}].mounts[${at}].`, say);
      volumes.push({ name, hostPath: { path: fields.text('hostPath') ?? '' } });
      const readOnly = fields.take('readOnly') === true;
      const mountPath = fields.text('containerPath') ?? '';
      fields.end();
      return { name, mountPath, ...(readOnly && { readOnly }) };
    });
    return own.length === 0 ? rest : { ...rest, volumeMounts: [...listOf(rest.volumeMounts), ...own] };
  });
  return { ...spec.others(), containers, ...(volumes.length > 0 && { volumes }) };
}

/** Of a template only labels and annotations go to pods. */
export function podTemplate(value: unknown, path: string, say: Say): JsonObject {
  const template = new Fields(isRecord(value) ? value : {}, path, say);
  const metadata = template.part('metadata');
  const [labels, annotations] = [metadata.take('labels'), metadata.take('annotations')];
  metadata.drop('name', 'each pod gets a name');
  metadata.drop('namespace', 'its pods are where it is');
  const spec = template.take('spec');
  template.end();
  return {
    metadata: { labels: labels ?? {}, ...(annotations !== undefined && { annotations }) },
    spec: podSpec(isRecord(spec) ? spec : {}, `${path}spec.`, say),
  };
}

const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isRecord) : []);
