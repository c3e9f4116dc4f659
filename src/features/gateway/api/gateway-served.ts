/** Name of the condition by which a node reports whether it serves Gateways. */
export const gatewayServedType = 'GatewayServed';
