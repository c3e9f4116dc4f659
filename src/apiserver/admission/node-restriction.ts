/** A node agent creates only its own Node and its own Lease; what it may address by URL the authorizer decides. */
import { newForbidden } from '../../apimachinery/status-error.ts';
import { nodeNameOf } from '../user.ts';
import type { AdmissionPlugin } from './plugin.ts';

export const nodeRestriction: AdmissionPlugin = (_server, { operation, definition, name, user }) => {
  const node = nodeNameOf(user);
  if (node === undefined || operation !== 'create' || name === node) return;
  if (definition.plural === 'nodes' || definition.plural === 'leases') {
    throw newForbidden(definition, name, `node ${JSON.stringify(node)} is not allowed to create it`);
  }
};
