/** Rejects new objects of a custom kind whose definition is being deleted. */
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource,
} from '../../api/apiextensions/v1/custom-resource-definition.ts';
import { isDefinitionTrue } from '../../api/apiextensions/v1/definition-conditions.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newStatusError } from '../../apimachinery/status-error.ts';
import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { Cache } from '../../storage/cache.ts';

export const terminatingDefinitions = ({
  cache,
}: {
  readonly cache: Pick<Cache, 'get'>;
}): AdmissionPlugin => ({
  name: 'CustomResourceDefinitionTerminating',
  mutate({ operation, definition: { group, plural }, subresource }) {
    if (operation !== 'create' || subresource !== '' || !group.includes('.')) return;
    const key = storageKey(customResourceDefinitionResource, '', `${plural}.${group}`);
    const definition = cache.get(key)?.object as CustomResourceDefinition | undefined;
    if (!definition || !isDefinitionTrue(definition, 'Terminating')) return;
    const message = 'create not allowed while custom resource definition is terminating';
    throw newStatusError('MethodNotAllowed', message, { group, kind: plural });
  },
});
