import theme from 'vitepress/theme-without-fonts';
import './postern.css';

export default theme;
