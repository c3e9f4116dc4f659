/**
 * Protocol that a node agent offers in TLS beside `h2`, so that the API server speaks HTTP/2 with it also where
 * other clients do not get it (`--http2 agents`): all watches of the agent are streams of one connection.
 */
export const agentProtocol = 'minik8s-agent';
