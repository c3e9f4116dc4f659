/** Changes that --overrides makes to an object that was made from flags. */
import { deepEqual, isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { type ObjectType, requiredType } from '../../apimachinery/field-types.ts';
import { goShape } from '../../apimachinery/go-shape.ts';
import { applyPatch, type Patch } from '../../apimachinery/patch.ts';
import { readJsonPatch } from '../../apimachinery/patch-json.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import type { Io } from '../io.ts';

const overrideTypes = ['merge', 'json', 'strategic'] as const;

export const overrideFlags = {
  overrides: {
    type: 'string',
    hint: 'PATCH',
    about: 'change the object before it is created, by a patch in JSON or YAML',
  },
  'override-type': {
    type: 'string',
    hint: overrideTypes.join('|'),
    about: 'type of the patch of --overrides',
    usual: 'merge',
    values: overrideTypes,
  },
} as const satisfies FlagTable;

/** Resolves to the object with --overrides; `typeName` is a name such as `core.v1.Pod`. Throws UsageError. */
export async function withOverrides(
  io: Pick<Io, 'kubernetesFields'>,
  flags: Flags,
  made: JsonObject,
  typeName: string,
): Promise<JsonObject> {
  const kind = flags.oneOf('override-type', overrideTypes) ?? 'merge';
  const text = flags.text('overrides');
  if (!text) return made;
  return overridden(made, patchOf(text, kind), requiredType(await io.kubernetesFields(), typeName));
}

/** Returns the patched object in Go's form. Throws UsageError for a patch that does not fit. */
export function overridden(made: JsonObject, patch: Patch, type: ObjectType): JsonObject {
  try {
    const changed = applyPatch(made, patch, type);
    for (const field of ['apiVersion', 'kind'])
      if (!deepEqual(changed[field], made[field]))
        throw new Error(`it changes ${field} from ${String(made[field])}, which it must leave unchanged`);
    return goShape(changed, type);
  } catch (error) {
    throw new UsageError(`--overrides: ${errorMessage(error)}`);
  }
}

function patchOf(text: string, kind: (typeof overrideTypes)[number]): Patch {
  try {
    const { value } = parseYaml(text);
    if (kind === 'json') return { kind, operations: readJsonPatch(value) };
    if (isRecord(value)) return { kind, value };
  } catch (error) {
    throw new UsageError(`--overrides: ${errorMessage(error)}`);
  }
  throw new UsageError('--overrides: expected an object, such as \'{"spec":{"nodeName":"node-1"}}\'');
}
