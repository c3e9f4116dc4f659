/**
 * State of the agent's own Node. The object is created before every part that reads it; NodeReporter is
 * its only writer.
 */
import type { Node } from '../../api/core/v1/node/node.ts';

export class NodeState {
  /** The Node as it was last seen; undefined while there is none. */
  node: Node | undefined;
  /** Reason why the node is permanently not ready; undefined until the machine shuts down. */
  shutdownReason: string | undefined;
}
