/**
 * What a node agent offers in TLS beside `h2`, so that the API server speaks HTTP/2 with it: all its watches are streams of one
 * connection then. Everybody else gets HTTP/1.1, where one watch a connection costs less than HTTP/2's frames.
 */
export const agentProtocol = 'minik8s-agent';
