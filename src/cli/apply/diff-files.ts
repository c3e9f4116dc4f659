/** Two states of an object as texts for a diff program. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';
import { objectFormat, withoutManagedFields } from '../printers/object-format.ts';

/** Returns a file name such as `apps.v1.Deployment.default.web`. */
export function fileNameOf(object: JsonObject): string {
  const { name, namespace } = metadataOf(object);
  const version = String(object.apiVersion).replaceAll('/', '.');
  // Names contain no slashes, but a server's answer must not be trusted as a file name.
  return [version, String(object.kind), namespace, name].join('.').replaceAll(/[/\0]/g, '_');
}

/** Parts of an object that are usually left out. */
export interface ShownParts {
  readonly managedFields?: boolean;
  /** Values of Secrets; without them, the text only shows whether they differ. */
  readonly secrets?: boolean;
}

/** Returns both texts; a state that is undefined becomes an empty text. */
export function textsOf(
  live: JsonObject | undefined,
  merged: JsonObject | undefined,
  { managedFields = false, secrets = false }: ShownParts = {},
): readonly [string, string] {
  const [before, after] = [live, merged].map((object) =>
    managedFields || !object ? object : withoutManagedFields(object),
  );
  const kind = (live ?? merged)?.kind;
  const [one, other] = kind === 'Secret' && !secrets ? masked(before, after) : [before, after];
  const yaml = objectFormat('yaml');
  return [(one && yaml?.(one)) ?? '', (other && yaml?.(other)) ?? ''];
}

function masked(before: JsonObject | undefined, after: JsonObject | undefined) {
  const [old, now] = [before, after].map((object) => recordAt(object, 'data'));
  const hidden = (object: JsonObject | undefined, when: string) => {
    if (!object) return undefined;
    const metadata = recordAt(object, 'metadata');
    // The annotation contains the data a second time, unmasked.
    const { [lastAppliedAnnotation]: _, ...annotations } = recordAt(metadata, 'annotations');
    const plain = { ...object, metadata: { ...metadata, annotations } };
    if (!isRecord(object.data)) return plain;
    const data = Object.keys(object.data).map((key) => {
      const both = old !== undefined && now !== undefined && key in old && key in now;
      return [key, both && old[key] !== now[key] ? `*** (${when})` : '***'];
    });
    return { ...plain, data: Object.fromEntries(data) };
  };
  return [hidden(before, 'before'), hidden(after, 'after')] as const;
}
