/**
 * Keeps the definitions with which runs begin: each is a ControllerRevision of its Workflow, named by its
 * content.
 */
import { createHash } from 'node:crypto';
import {
  type ControllerRevision,
  controllerRevisionResource,
} from '../../../api/apps/v1/controller-revision.ts';
import { deepEqual, identityOf } from '../../../apimachinery/equality.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import type { Client } from '../../../client/client.ts';
import type { Lister } from '../../../client/informer.ts';
import { controllerReference } from '../../../controller-runtime/claim.ts';
import type { Definition } from '../../../states-language/definition/types.ts';
import { type Workflow, workflowResource } from '../api/workflow.ts';

/** Label of the revisions with the name of the workflow, by which they are selected. */
export const revisionLabel = 'minik8s.io/workflow';

/** Returns the name of the revision, which depends only on the content of the definition. */
export function revisionName({ metadata, spec }: Workflow): string {
  const hash = createHash('sha256')
    .update(String(identityOf(spec.definition)))
    .digest('hex');
  return `${metadata.name}-${hash.slice(0, 10)}`;
}

export interface NamedDefinition {
  readonly name: string;
  readonly definition: Definition;
}

/**
 * Creates the revision of the workflow's current definition if it does not exist. Throws if a revision with
 * another content has its name.
 */
export async function keepDefinition(
  client: Client,
  revisions: Lister<ControllerRevision>,
  workflow: Workflow,
): Promise<NamedDefinition> {
  const name = revisionName(workflow);
  const { namespace = '' } = workflow.metadata;
  const definition = workflow.spec.definition as Definition;
  const kept = revisions.get(`${namespace}/${name}`) ?? (await made(client, workflow, name));
  if (!deepEqual(kept.data, workflow.spec.definition)) {
    throw new Error(`ControllerRevision ${namespace}/${name} holds another definition: delete it`);
  }
  return { name, definition };
}

async function made(client: Client, workflow: Workflow, name: string): Promise<ControllerRevision> {
  const { name: of, namespace = '', generation = 1 } = workflow.metadata;
  const revisions = client.resource(controllerRevisionResource);
  try {
    return await revisions.create({
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name,
        namespace,
        labels: { [revisionLabel]: of },
        ownerReferences: [controllerReference(workflowResource, workflow)],
      },
      data: workflow.spec.definition as Record<string, unknown>,
      revision: generation,
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return revisions.get(name, namespace);
  }
}
