/**
 * Annotations that a node's agent sets on its own Node, most of them for the agents of other nodes. Those
 * watch only the metadata of Nodes: a status is large, and every node's status would be sent to every other
 * node.
 */

/** Mode of the overlay for packets to the node's pods; set once the node can receive such packets. */
export const modeAnnotation = 'minik8s.io/overlay';
/** MAC address of the node's end of the overlay. */
export const macAnnotation = 'minik8s.io/vxlan-mac';
/** The node's `spec.podCIDR`; no other value is allowed. */
export const podCIDRAnnotation = 'minik8s.io/pod-cidr';
/** The node's range of IPv6 in `spec.podCIDRs`; no other value is allowed. */
export const podCIDR6Annotation = 'minik8s.io/pod-cidr-ipv6';
/** The node's InternalIP. */
export const nodeIPAnnotation = 'minik8s.io/node-ip';
/** The node's InternalIP of IPv6. */
export const nodeIPv6Annotation = 'minik8s.io/node-ipv6';

/**
 * SHA-256 fingerprint of the client certificate that the node uses. With this certificate, and no other, the
 * node may request the next one after it has expired.
 */
export const certificateAnnotation = 'minik8s.io/client-certificate';
/** Hashes of the authorities that the node trusts, and of those that have signed its certificates. */
export const trustsAnnotation = 'minik8s.io/trusted-authorities';
export const issuersAnnotation = 'minik8s.io/certificate-issuers';
