/** Every kind the server knows (kinds.ts), and what is told of all of them together. */

import type { FieldTable } from '../apimachinery/field-types.ts';
import { storedOf } from '../apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { createTypeTable } from '../apimachinery/type-table.ts';
import * as kinds from './kinds.ts';
import { choiceLines, typeLines } from './kubernetes-types.gen.ts';
import { sharedRules } from './shared-rules.ts';

export const registry: readonly ResourceDefinition[] = Object.values(kinds);

/** The fields of all kinds, with what minik8s adds to them. */
export const kindFields: FieldTable = createTypeTable(
  typeLines,
  choiceLines,
  Object.assign({}, sharedRules, ...registry.map(({ rules }) => rules)),
);

/** Those whose objects are stored, and so can be listed and watched. */
export const storedKinds: readonly ResourceDefinition[] = storedOf(registry);
