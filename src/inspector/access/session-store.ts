/** What must outlive a restart of the gateway: what signs its sessions, and which of them were ended. */
export interface SessionStore {
  /** Whoever has it can create sessions: at least 32 random bytes. */
  readonly secret: string;
  isEnded(id: string): boolean;
  /** Ends one session, which would be valid until `expiresMs`. */
  end(id: string, expiresMs: number): void;
  /** Ends all sessions by replacing the secret. */
  renew(): void;
}
