import './styles/tokens.css';
import './styles/base.css';
import { createRoot } from 'react-dom/client';
import { watchNetwork } from './api/connection.js';
import { App } from './app/app.js';
import { applyTheme } from './lib/preferences.js';

applyTheme();
watchNetwork();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
