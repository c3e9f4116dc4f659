/**
 * ALPN protocol that a node agent offers in addition to `h2`. With it the API server uses HTTP/2 for agents
 * even where other clients do not get HTTP/2 (`--http2 agents`), so that all watches of an agent are streams
 * of one connection.
 */
export const agentProtocol = 'minik8s-agent';
