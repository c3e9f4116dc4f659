/** All kinds of the server (kinds.ts), and data derived from all of them. */

import type { FieldTable } from '../apimachinery/field-types.ts';
import { storedOf } from '../apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { createTypeTable } from '../apimachinery/type-table.ts';
import * as kinds from './kinds.ts';
import { choiceLines, typeLines } from './kubernetes-types.gen.ts';
import { sharedRules } from './shared-rules.ts';

export const registry: readonly ResourceDefinition[] = Object.values(kinds);

/** The fields of all kinds, with the rules of minik8s. */
export const kindFields: FieldTable = createTypeTable(
  typeLines,
  choiceLines,
  Object.assign({}, sharedRules, ...registry.map(({ rules }) => rules)),
);

/** Kinds whose objects are stored; they can be listed and watched. */
export const storedKinds: readonly ResourceDefinition[] = storedOf(registry);
