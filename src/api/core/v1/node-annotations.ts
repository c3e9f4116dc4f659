/**
 * What a node's agent writes on its own Node for the agents of other nodes. They watch the metadata of Nodes alone: a
 * status is large, and that of every node would go to every other.
 */

/** How packets are sent to the node's pods. Written once it can receive packets of that kind. */
export const modeAnnotation = 'minik8s.io/overlay';
/** The MAC of its end of the overlay. */
export const macAnnotation = 'minik8s.io/vxlan-mac';
/** Its `spec.podCIDR`; it may write nothing else there. */
export const podCIDRAnnotation = 'minik8s.io/pod-cidr';
/** Its InternalIP. */
export const nodeIPAnnotation = 'minik8s.io/node-ip';
