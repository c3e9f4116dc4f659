/** The CustomResourceDefinitions of the Gateway API. Pure. */
import type { CustomResourceDefinition } from '../../../api/apiextensions/v1/custom-resource-definition.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import type { DefinitionFacts } from '../api/definition-facts.ts';
import { gatewayGroup } from '../api/kinds.ts';
import { bundleVersion, definitions } from '../api/schemas.gen.ts';

const managedLabel = 'app.kubernetes.io/managed-by';
const manager = 'minik8s';
const versionAnnotation = `${gatewayGroup}/bundle-version`;

/** Returns true for the name of a definition of the Gateway API. */
export const isOwnDefinition = (name: string): boolean =>
  name.endsWith(`.${gatewayGroup}`) && name.slice(0, -gatewayGroup.length - 1) in definitions;

export interface DefinitionChanges {
  readonly create: readonly Draft<CustomResourceDefinition>[];
  readonly update: readonly CustomResourceDefinition[];
}

/**
 * Returns the definitions to create and to update. A definition that others created is not changed, whatever
 * its version; a definition that an earlier release of minik8s created is updated to this version.
 */
export function planDefinitions(present: readonly CustomResourceDefinition[]): DefinitionChanges {
  const byName = new Map(present.map((definition) => [definition.metadata.name, definition]));
  const wanted = Object.values(definitions).map(definitionOf);
  return {
    create: wanted.filter(({ metadata }) => !byName.has(metadata.name ?? '')),
    update: wanted.flatMap(({ metadata, spec }) => {
      const old = byName.get(metadata.name ?? '');
      if (!old || !isOutdated(old)) return [];
      const annotations = { ...old.metadata.annotations, ...metadata.annotations };
      return [{ ...old, metadata: { ...old.metadata, annotations }, spec }];
    }),
  };
}

const isOutdated = ({ metadata: { labels, annotations } }: CustomResourceDefinition) =>
  labels?.[managedLabel] === manager && annotations?.[versionAnnotation] !== bundleVersion;

function definitionOf(facts: DefinitionFacts): Draft<CustomResourceDefinition> {
  const { approved, policy, scope, names, versions, schemas } = facts;
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${names.plural}.${gatewayGroup}`,
      labels: { [managedLabel]: manager, ...(policy && { [`${gatewayGroup}/policy`]: policy }) },
      annotations: {
        'api-approved.kubernetes.io': approved,
        [versionAnnotation]: bundleVersion,
        [`${gatewayGroup}/channel`]: 'standard',
      },
    },
    spec: {
      group: gatewayGroup,
      ...{ names, scope },
      versions: versions.map(({ name, served, storage, columns, schema }) => ({
        ...{ name, served, storage },
        additionalPrinterColumns: columns,
        schema: { openAPIV3Schema: schemas[schema] },
        ...(names.plural === 'referencegrants' ? {} : { subresources: { status: {} } }),
      })),
    },
  };
  return definition as unknown as Draft<CustomResourceDefinition>;
}
